import HealthModel

/// A check of how many entries a `ChangeBatch` message holds, made before any of it is decoded. An entry of a column
/// or dictionary takes two bytes or more on the wire, almost none when compressed, and a hundred when decoded.
///
/// Wire format: the Protocol Buffers encoding, https://protobuf.dev/programming-guides/encoding/.
struct ColumnBudget {
  enum Verdict: Hashable {
    case fits
    /// A column or dictionary has too many entries, or the dictionaries are too large.
    case tooMany
    case malformed
  }

  private enum Message: Int, CaseIterable {
    case batch, samples, tombstones
  }

  /// The rule for counting the entries of a length-delimited field.
  private enum Entries {
    /// A single entry, not packed.
    case one
    /// Packed varints; each entry ends with a byte below 0x80.
    case varints
    /// Packed entries of this many bytes each.
    case fixed(Int)
    case message(Message)
  }

  private let bytes: UnsafeRawBufferPointer
  private let limits: ClientLimits
  /// The number of entries so far, indexed by message and field number.
  private var counts: [Int]
  /// The size of all dictionaries so far.
  private var dictionaryBytes = 0
  private static let fields = 32

  static func verdict(on content: UnsafeRawBufferPointer, _ limits: ClientLimits) -> Verdict {
    var budget = Self(content, limits)
    do {
      try budget.walk(0..<content.count, .batch)
      return .fits
    } catch {
      return error
    }
  }

  private init(_ bytes: UnsafeRawBufferPointer, _ limits: ClientLimits) {
    (self.bytes, self.limits) = (bytes, limits)
    counts = Array(repeating: 0, count: Message.allCases.count * Self.fields)
  }

  private mutating func walk(_ range: Range<Int>, _ message: Message) throws(Verdict) {
    var index = range.lowerBound
    while index < range.upperBound {
      let tag = try varint(&index, range.upperBound)
      // The field number has at most 61 bits.
      let field = Int(tag >> 3)
      guard field > 0 else { throw .malformed }
      switch tag & 7 {
      case 0:
        _ = try varint(&index, range.upperBound)
        try count(1, of: field, in: message)
      case 1: try skip(8, &index, range.upperBound, field, message)
      case 5: try skip(4, &index, range.upperBound, field, message)
      case 2:
        let length = try varint(&index, range.upperBound)
        guard length <= UInt64(range.upperBound - index) else { throw .malformed }
        let content = index..<index + Int(length)
        index = content.upperBound
        switch Self.entries(of: field, in: message) {
        case .one:
          try count(1, of: field, in: message)
          guard Self.isDictionary(field, in: message) else { continue }
          dictionaryBytes += content.count
          guard dictionaryBytes <= limits.dictionaryBytes else { throw .tooMany }
        case .varints: try count(bytes[content].count { $0 < 0x80 }, of: field, in: message)
        case .fixed(let size): try count(content.count / size, of: field, in: message)
        case .message(let inner):
          try count(1, of: field, in: message)
          try walk(content, inner)
        }
      // Groups do not occur in `changes.proto`.
      default: throw .malformed
      }
    }
  }

  /// Returns the counting rule of a field, following `changes.proto`.
  private static func entries(of field: Int, in message: Message) -> Entries {
    switch (message, field) {
    case (.batch, 1): .message(.samples)
    case (.batch, 2): .message(.tombstones)
    case (.samples, 8), (.tombstones, 3): .fixed(16)
    case (.samples, 9...16), (.samples, 18), (.samples, 20), (.tombstones, 4...6), (.tombstones, 8...9),
      (.tombstones, 11...12), (.samples, 23):
      .varints
    case (.samples, 17), (.samples, 22), (.tombstones, 10): .fixed(1)
    case (.samples, 19): .fixed(8)
    case (.samples, 24), (.tombstones, 13): .fixed(KeyStatement.byteCount)
    default: .one
    }
  }

  private static func isDictionary(_ field: Int, in message: Message) -> Bool {
    switch message {
    case .batch: false
    case .samples: (2...7).contains(field)
    case .tombstones: field == 2 || field == 7
    }
  }

  private mutating func count(_ entries: Int, of field: Int, in message: Message) throws(Verdict) {
    // The decoder discards unknown fields.
    guard field < Self.fields else { return }
    let index = message.rawValue * Self.fields + field
    counts[index] += entries
    let maximum = Self.isDictionary(field, in: message) ? limits.dictionaryEntries : limits.batchChanges
    guard counts[index] <= maximum else { throw .tooMany }
  }

  private mutating func skip(
    _ size: Int, _ index: inout Int, _ end: Int, _ field: Int, _ message: Message
  ) throws(Verdict) {
    guard end - index >= size else { throw .malformed }
    index += size
    try count(1, of: field, in: message)
  }

  private func varint(_ index: inout Int, _ end: Int) throws(Verdict) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: 0, through: 63, by: 7) {
      guard index < end else { throw .malformed }
      let byte = bytes[index]
      index += 1
      value |= UInt64(byte & 0x7F) << UInt64(shift)
      if byte < 0x80 { return value }
    }
    throw .malformed
  }
}

extension ColumnBudget.Verdict: Error {}
