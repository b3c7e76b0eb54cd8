/// The unique binary form of a JSON value, for hashing. Each value begins with a tag:
///
///     n  null             t  true             f  false
///     i  a whole number from -2^63 to 2^63-1: 8 bytes, big-endian, two's complement
///     d  any other number: 8 bytes, IEEE 754 binary64, big-endian
///     s  text: its length in bytes as 4 bytes, big-endian, then UTF-8
///     a  an array: the elements, then e
///     o  an object: key (as s) and value of each member, in the order of the keys' UTF-8, then e
///
/// Whether a number came as an integer or with a fraction of zero makes no difference, as in JSON.
package struct CanonicalForm {
  private(set) var bytes: [UInt8] = []

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
  }

  mutating func null() { bytes.append(UInt8(ascii: "n")) }

  mutating func write(_ flag: Bool) { bytes.append(UInt8(ascii: flag ? "t" : "f")) }

  mutating func write(_ integer: Int64) {
    bytes.append(UInt8(ascii: "i"))
    append(UInt64(bitPattern: integer))
  }

  /// Writes a number. Non-finite numbers are written as text, as in the feed: `nan`, `inf`, `-inf`.
  mutating func write(_ number: Double) {
    guard number.isFinite else { return write(number.isNaN ? "nan" : number < 0 ? "-inf" : "inf") }
    if let integer = Int64(exactly: number) { return write(integer) }
    bytes.append(UInt8(ascii: "d"))
    append(number.bitPattern)
  }

  mutating func write(_ text: String) {
    bytes.append(UInt8(ascii: "s"))
    let utf8 = text.utf8
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: utf8.count).bigEndian) { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: utf8)
  }

  mutating func array<Element>(_ elements: [Element], _ write: (inout Self, Element) -> Void) {
    bytes.append(UInt8(ascii: "a"))
    for element in elements { write(&self, element) }
    bytes.append(UInt8(ascii: "e"))
  }

  /// Writes an object. The members must be written in the order of their keys.
  mutating func object(_ members: (inout Self) -> Void) {
    bytes.append(UInt8(ascii: "o"))
    members(&self)
    bytes.append(UInt8(ascii: "e"))
  }

  mutating func object<Value>(_ members: [String: Value], _ write: (inout Self, Value) -> Void) {
    object { form in
      for (key, value) in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
        form.write(key)
        write(&form, value)
      }
    }
  }

  mutating func write(_ json: JSONValue) {
    switch json {
    case .null: null()
    case .bool(let flag): write(flag)
    case .integer(let integer): write(integer)
    case .number(let number): write(number)
    case .string(let text): write(text)
    case .array(let array): self.array(array) { $0.write($1) }
    case .object(let object): self.object(object) { $0.write($1) }
    }
  }

  private mutating func append(_ number: UInt64) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }
}
