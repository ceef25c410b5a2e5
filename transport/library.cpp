// The shared library has no code of its own; the rooms are linked whole into it.
