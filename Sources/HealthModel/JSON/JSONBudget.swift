/// A limit on the size of a JSON text (RFC 8259), checked before decoding. A value of two bytes in the text takes
/// about fifty in memory.
///
/// ```swift
/// print(JSONBudget.payload.verdict(on: #"{"a":[1,2,3]}"#))                        // fits
/// print(JSONBudget(bytes: 1000, weight: 10).verdict(on: #"{"a":[{"b":[]}]}"#))    // tooHeavy
/// ```
public struct JSONBudget: Hashable, Sendable {
  /// The result of ``verdict(on:)``. The first limit exceeded decides.
  public enum Verdict: Hashable, Sendable {
    /// The text may be decoded.
    case fits
    /// The text exceeds ``JSONBudget/bytes`` or ``JSONBudget/weight``.
    case tooHeavy
    /// The text is nested deeper than ``JSONBudget/depth``.
    case tooDeep
  }

  /// The maximum length of the text in bytes of UTF-8.
  public var bytes: Int
  /// The maximum sum of weights: two for each array element, six for each object and six for each key. Values nested
  /// deeper than sixteen weigh more with each level, because their coding path is built anew for each.
  public var weight: Int
  /// The maximum nesting of arrays and objects.
  public var depth: Int

  /// Creates a budget.
  ///
  /// - Parameter depth: 128 by default, far more than any sample needs and safe for a recursive decoder.
  public init(bytes: Int, weight: Int, depth: Int = 128) {
    (self.bytes, self.weight, self.depth) = (bytes, weight, depth)
  }

  /// The budget of a sample's payload: attachments of 16 MiB, or a clinical record of 4 MiB with 200,000 members.
  /// Larger payloads are neither imported nor sent.
  public static let payload = Self(bytes: 24 << 20, weight: 2_000_000)
  /// The budget of all parts of a sample except its payload.
  public static let metadata = Self(bytes: 4 << 20, weight: 2_000_000)
  /// The maximum total size of a sample in bytes. The maximum that other machines accept at once is larger, to leave
  /// room for deletions.
  public static let sampleBytes = (28 << 20) - (512 << 10)
  /// The budget of a route or an electrocardiogram, whose numbers are in compact columns: eight for each of 200,000
  /// points, the number at which an import splits a route.
  public static let columns = Self(bytes: 28 << 20, weight: 3_400_000)

  private static let (element, member) = (2, 6)
  private static let plain = 16

  /// Checks a text against the limits, without validating that it is JSON.
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

  /// Checks a `String`, without a copy if its UTF-8 is contiguous.
  public func verdict(on text: String) -> Verdict {
    var text = text
    return text.withUTF8 { utf8 in verdict(on: UnsafeRawBufferPointer(utf8)) }
  }

  /// Returns whether a payload can be kept without decoding, so that its weight does not matter. This is so for kinds
  /// that this version does not know, if the text is canonical according to ``CanonicalJSON/isPlain(_:)``.
  public func takesAsItIs(_ text: String, kind: String) -> Bool {
    text.utf8.count <= bytes && !Payload.isKnown(kind: kind) && CanonicalJSON.isPlain(text)
  }
}

extension Payload {
  /// Whether other machines accept the payload.
  ///
  /// - Throws: `EncodingError` for a payload that cannot be written as JSON.
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
