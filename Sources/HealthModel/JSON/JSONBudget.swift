/// What one JSON text (RFC 8259) may hold, weighed before any of it is decoded: a value takes two bytes in the text, and
/// fifty when decoded.
///
/// ```swift
/// print(JSONBudget.payload.verdict(on: #"{"a":[1,2,3]}"#))                        // fits
/// print(JSONBudget(bytes: 1000, weight: 10).verdict(on: #"{"a":[{"b":[]}]}"#))    // tooHeavy
/// ```
public struct JSONBudget: Hashable, Sendable {
  /// What ``verdict(on:)`` finds. The first limit that is passed decides.
  public enum Verdict: Hashable, Sendable {
    /// The text may be decoded.
    case fits
    /// It has more than ``JSONBudget/bytes``, or more than ``JSONBudget/weight``.
    case tooHeavy
    /// It is nested deeper than ``JSONBudget/depth``.
    case tooDeep
  }

  /// The greatest length of the text in UTF-8.
  public var bytes: Int
  /// Maximum sum over all values: two for an element of an array, six for an object, and six for a key. What is nested
  /// deeper than sixteen, whose place is named anew for each value, weighs the more the deeper it is.
  public var weight: Int
  /// Maximum nesting of arrays and objects.
  public var depth: Int

  /// - Parameter depth: 128 by default, which no sample comes near and a recursive decoder survives.
  public init(bytes: Int, weight: Int, depth: Int = 128) {
    (self.bytes, self.weight, self.depth) = (bytes, weight, depth)
  }

  /// The budget of a sample's payload: attachments of sixteen MiB, or a clinical record of four with two hundred
  /// thousand members. More is neither imported nor sent.
  public static let payload = Self(bytes: 24 << 20, weight: 2_000_000)
  /// The budget of all that a sample says beside its payload.
  public static let metadata = Self(bytes: 4 << 20, weight: 2_000_000)
  /// Maximum bytes of all that a sample says: the most that other machines take at once has room for deletions, too.
  public static let sampleBytes = (28 << 20) - (512 << 10)
  /// The budget of a route or an electrocardiogram, whose numbers are in columns that take little memory: eight for
  /// each of 200,000 points, at which an import divides a route.
  public static let columns = Self(bytes: 28 << 20, weight: 3_400_000)

  private static let (element, member) = (2, 6)
  private static let plain = 16

  /// Says nothing about whether the text is JSON.
  public func verdict(on text: UnsafeRawBufferPointer) -> Verdict {
    if text.count > bytes { return .tooHeavy }
    var (sum, level, index) = (0, 0, 0)
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "\""):
        index += 1
        while index < text.count, text[index] != UInt8(ascii: "\"") {
          index += text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
      case UInt8(ascii: ","): sum += Self.element * max(1, level - Self.plain)
      case UInt8(ascii: ":"): sum += Self.member * max(1, level - Self.plain)
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        level += 1
        sum += (text[index] == UInt8(ascii: "{") ? Self.member : Self.element) * max(1, level - Self.plain)
        if level > depth { return .tooDeep }
      case UInt8(ascii: "]"), UInt8(ascii: "}"): level -= 1
      default: break
      }
      if sum > weight { return .tooHeavy }
      index += 1
    }
    return .fits
  }

  /// The same for a `String`, without a copy where its UTF-8 is contiguous.
  public func verdict(on text: String) -> Verdict {
    var text = text
    return text.withUTF8 { utf8 in verdict(on: UnsafeRawBufferPointer(utf8)) }
  }

  /// Whether a payload needs no decoding, and so has no weight: one of a kind that this version does not know, in the words
  /// that ``CanonicalJSON`` has for it.
  public func takesAsItIs(_ text: String, kind: String) -> Bool {
    text.utf8.count <= bytes && !Payload.isKnown(kind: kind) && CanonicalJSON.isPlain(text)
  }
}

extension Payload {
  /// Whether other machines take it. Throws `EncodingError` for what cannot be written as JSON.
  public var isWithinBudget: Bool {
    get throws {
      let coded = try CodedPayload(self)
      guard coded.unit?.utf8.count ?? 0 <= JSONBudget.metadata.bytes else { return false }
      guard let json = coded.json, JSONBudget.payload.verdict(on: json) != .fits else { return true }
      if JSONBudget.payload.takesAsItIs(json, kind: kind) { return true }
      return JSONBudget.columns.verdict(on: json) == .fits && Payload.columns(kind, json) != nil
    }
  }
}
