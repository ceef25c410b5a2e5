#include "datatypes/wire_codec.hpp"

#include <fmt/format.h>

#include <map>

#include "base/error.hpp"
#include "datatypes/program.hpp"

// version, number of forms, offset of the root, then the forms, each after those it is made of; the last is
// the root. A form is a kind and its body; it names others by how many places back they stand. Numbers are
// base-128 varints, low digits first; signed ones are folded (0, -1, 1, -2 ...).

namespace lath {
namespace {

constexpr std::byte version{1};
enum class Kind : std::uint8_t { nest, table, repeat, sequence };

class Writer {
 public:
  explicit Writer(std::vector<std::byte>& wire) : wire_(wire) {}

  void number(std::int64_t value) {
    auto rest = static_cast<std::uint64_t>(value);
    for (; rest >= 128; rest >>= 7) wire_.push_back(static_cast<std::byte>(rest | 128));
    wire_.push_back(static_cast<std::byte>(rest));
  }
  void signed_number(std::int64_t value) {
    number(static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << 1) ^ (value >> 63));
  }
  /// The difference to the value before, which may wrap.
  void step(std::int64_t from, std::int64_t to) {
    signed_number(
        static_cast<std::int64_t>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from)));
  }

 private:
  std::vector<std::byte>& wire_;
};

class Encoder {
 public:
  explicit Encoder(std::vector<std::byte>& wire) : write_(wire) {}

  void form(const Form& form) {
    if (places_.contains(form.hash)) return;
    std::visit([this](const auto& body) { inner(body); }, form.body);
    write_.number(static_cast<std::int64_t>(form.body.index()));
    std::visit([this](const auto& body) { write(body); }, form.body);
    places_.emplace(form.hash, static_cast<std::int64_t>(places_.size()));
  }
  [[nodiscard]] std::int64_t forms() const { return static_cast<std::int64_t>(places_.size()); }

 private:
  void inner(const NestBody&) {}
  void inner(const TableBody&) {}
  void inner(const RepeatBody& repeat) { form(*repeat.inner); }
  void inner(const SequenceBody& sequence) {
    for (const FormPtr& part : sequence.forms) form(*part);
  }

  void write(const NestBody& nest) {
    write_.number(nest.block);
    write_.number(static_cast<std::int64_t>(nest.loops.size()));
    for (const Loop& loop : nest.loops) {
      write_.number(loop.count);
      write_.signed_number(loop.stride);
    }
  }
  void write(const TableBody& table) {
    write_.number(static_cast<std::int64_t>(table.offsets.size()));
    std::int64_t end = 0;
    for (std::size_t i = 0; i < table.offsets.size(); ++i) {
      write_.step(end, table.offsets[i]);
      write_.number(table.lengths[i]);
      end = table.offsets[i] + table.lengths[i];
    }
  }
  void write(const RepeatBody& repeat) {
    write_.number(repeat.count);
    write_.signed_number(repeat.stride);
    reference(*repeat.inner);
  }
  void write(const SequenceBody& sequence) {
    write_.number(static_cast<std::int64_t>(sequence.forms.size()));
    std::int64_t before = 0;
    for (std::size_t i = 0; i < sequence.forms.size(); ++i) {
      write_.step(before, sequence.offsets[i]);
      reference(*sequence.forms[i]);
      before = sequence.offsets[i];
    }
  }
  void reference(const Form& form) { write_.number(forms() - places_.at(form.hash)); }

  Writer write_;
  std::map<LayoutHash, std::int64_t> places_;
};

[[noreturn]] void corrupt(const char* field, const char* problem) {
  throw Error(Code::corrupt, fmt::format("layout on the wire: {} {}", field, problem));
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> wire) : wire_(wire) {}

  [[nodiscard]] std::size_t left() const { return wire_.size(); }

  std::byte byte(const char* field) {
    if (wire_.empty()) corrupt(field, "is cut off");
    const std::byte value = wire_.front();
    wire_ = wire_.subspan(1);
    return value;
  }
  std::uint64_t word(const char* field) {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto digit = static_cast<std::uint64_t>(byte(field));
      if (shift == 63 && digit > 1) corrupt(field, "does not fit 64 bits");
      value |= (digit & 127) << shift;
      if (digit >= 128) continue;
      if (digit == 0 && shift > 0) corrupt(field, "is not in its shortest form");
      return value;
    }
  }
  std::int64_t number(const char* field, std::int64_t least) {
    const std::uint64_t value = word(field);
    if (value > static_cast<std::uint64_t>(INT64_MAX)) corrupt(field, "does not fit 63 bits");
    if (static_cast<std::int64_t>(value) < least) corrupt(field, "is too small");
    return static_cast<std::int64_t>(value);
  }
  std::int64_t signed_number(const char* field) {
    const std::uint64_t value = word(field);
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  std::int64_t step(std::int64_t from, const char* field) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(from) +
                                     static_cast<std::uint64_t>(signed_number(field)));
  }
  /// How many things of at least two bytes each follow.
  std::size_t count(const char* field, std::int64_t least) {
    const std::int64_t value = number(field, least);
    if (static_cast<std::uint64_t>(value) > left() / 2) corrupt(field, "is larger than the message");
    return static_cast<std::size_t>(value);
  }

 private:
  std::span<const std::byte> wire_;
};

std::int64_t sum(std::int64_t a, std::int64_t b, const char* field) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) corrupt(field, "leaves 64 bits");
  return result;
}

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> wire) : read_(wire) {}

  PlacedForm all() {
    if (read_.byte("version") != version) corrupt("version", "is not known");
    const std::int64_t count = read_.number("number of forms", 0);
    if (static_cast<std::uint64_t>(count) > read_.left())
      corrupt("number of forms", "is larger than the message");
    if (count == 0) {
      if (read_.left() > 0) corrupt("end", "is followed by more bytes");
      return {};
    }
    const std::int64_t offset = read_.signed_number("offset");
    for (std::int64_t i = 0; i < count; ++i) forms_.push_back(form());
    if (read_.left() > 0) corrupt("end", "is followed by more bytes");
    const FormPtr root = forms_.back();
    if (std::holds_alternative<TableBody>(root->body) && offset != 0)
      corrupt("offset", "of a table is not 0");
    return {offset, root};
  }

 private:
  FormPtr form() {
    switch (static_cast<Kind>(read_.number("kind", 0))) {
      case Kind::nest:
        return nest();
      case Kind::table:
        return table();
      case Kind::repeat:
        return repeat();
      case Kind::sequence:
        return sequence();
    }
    corrupt("kind", "is not known");
  }

  FormPtr nest() {
    const std::int64_t block = read_.number("block length", 1);
    std::vector<Loop> loops(read_.count("number of loops", 0));
    for (Loop& loop : loops) {
      loop.count = read_.number("loop count", 2);
      loop.stride = read_.signed_number("loop stride");
    }
    FormPtr form = make_nest(block, loops);
    check_loops(block, loops);
    return form;
  }

  /// make_nest has shown that the sums fit, but for those of the inner loops alone.
  static void check_loops(std::int64_t block, const std::vector<Loop>& loops) {
    std::int64_t end = block;
    for (std::size_t i = loops.size(); i-- > 0;) {
      if (loops[i].stride == end) corrupt("loop stride", "joins blocks");
      if (i + 1 < loops.size() && loops[i].stride == loops[i + 1].count * loops[i + 1].stride)
        corrupt("loop stride", "continues the inner loop");
      end = sum(end, (loops[i].count - 1) * loops[i].stride, "loop stride");
      if (i > 0)
        static_cast<void>(sum((loops[i].count - 1) * loops[i].stride, loops[i].stride, "loop stride"));
    }
  }

  FormPtr table() {
    const std::size_t count = read_.count("number of segments", 2);
    std::vector<std::int64_t> offsets(count);
    std::vector<std::int64_t> lengths(count);
    std::int64_t end = 0;
    for (std::size_t i = 0; i < count; ++i) {
      offsets[i] = read_.step(end, "segment offset");
      if (i > 0 && offsets[i] == end) corrupt("segment offset", "joins the segment before");
      lengths[i] = read_.number("segment length", 1);
      end = sum(offsets[i], lengths[i], "segment length");
    }
    return make_table(std::move(offsets), std::move(lengths));
  }

  FormPtr repeat() {
    const std::int64_t count = read_.number("repeat count", 2);
    const std::int64_t stride = read_.signed_number("repeat stride");
    FormPtr inner = reference();
    if (std::holds_alternative<NestBody>(inner->body)) corrupt("repeated form", "is a nest");
    if (end_of(inner->last) == stride) corrupt("repeat stride", "joins blocks");
    return make_repeat(count, stride, std::move(inner));
  }

  FormPtr sequence() {
    const std::size_t count = read_.count("number of parts", 2);
    std::vector<std::int64_t> offsets(count);
    std::vector<FormPtr> forms(count);
    std::int64_t before = 0;
    std::int64_t end = 0;
    for (std::size_t i = 0; i < count; ++i) {
      offsets[i] = before = read_.step(before, "part offset");
      forms[i] = reference();
      if (i == 0 && offsets[i] != 0) corrupt("part offset", "of the first part is not 0");
      if (i > 0 && offsets[i] == end) corrupt("part offset", "joins blocks");
      end = sum(offsets[i], end_of(forms[i]->last), "part offset");
    }
    return make_sequence(std::move(offsets), std::move(forms));
  }

  FormPtr reference() {
    const std::int64_t back = read_.number("reference", 1);
    if (static_cast<std::uint64_t>(back) > forms_.size()) corrupt("reference", "is to no form before");
    FormPtr form = forms_[forms_.size() - static_cast<std::size_t>(back)];
    if (form->first.offset != 0) corrupt("reference", "is to a form that is not at 0");
    return form;
  }

  Reader read_;
  std::vector<FormPtr> forms_;
};

}  // namespace

std::vector<std::byte> encode(const Layout& layout) {
  const PlacedForm& root = layout.program().root;
  std::vector<std::byte> forms;
  Encoder encoder(forms);
  if (root.form) encoder.form(*root.form);
  std::vector<std::byte> wire{version};
  Writer write(wire);
  write.number(encoder.forms());
  if (root.form) write.signed_number(root.offset);
  wire.insert(wire.end(), forms.begin(), forms.end());
  return wire;
}

Layout decode_layout(std::span<const std::byte> wire) {
  try {
    return Layout(make_program(Decoder(wire).all()));
  } catch (const Error& error) {
    if (error.lath_code() == Code::corrupt) throw;
    throw Error(Code::corrupt, std::string("layout on the wire: ") + error.what());
  }
}

}  // namespace lath
