import Foundation
import HealthModel

/// The rank of a sample among those with an equal key. It does not depend on the order of the file or on units.
struct SampleRank: Comparable {
  /// The canonical value as a number, or negative infinity for other values. Compared first, because as text 10 would
  /// come before 9.
  private let number: Double
  let value: String
  /// The end date, category name, metadata and members.
  private let content: String

  /// Creates the rank of a sample.
  ///
  /// - Parameter members: the ranks of a correlation's members as text.
  init(_ sample: Sample, members: [String] = []) {
    value = sample.canonicalValue
    number = Double(value) ?? -.infinity
    var content = [String(sample.end.microseconds), Self.name(of: sample.payload) ?? ""]
    for (key, value) in sample.metadata.sorted(by: { $0.key < $1.key }) { content += [key, "\(value)"] }
    content += members.sorted()
    self.content = content.joined(separator: "\u{1F}")
  }

  /// The rank as text. Samples with equal texts have the same content, in the precision that every export prints.
  var text: String { "\(value)\u{1F}\(content)" }

  static func < (a: SampleRank, b: SampleRank) -> Bool {
    if a.number != b.number { return a.number < b.number }
    return a.value == b.value ? a.content < b.content : a.value < b.value
  }

  /// Returns the indices of `ranks` in ascending order.
  ///
  /// - Parameter sample: returns the sample at an index; called only if ranks are equal. Such samples are ordered by
  ///   all of their content. If that is equal too, their order does not matter.
  static func order(_ ranks: [SampleRank], sample: (Int) -> Sample) -> [Int] {
    var order = ranks.indices.sorted { ranks[$0] < ranks[$1] }
    var start = 0
    while start < order.count {
      var end = start + 1
      while end < order.count, ranks[order[end]] == ranks[order[start]] { end += 1 }
      if end - start > 1 {
        let exact = order[start..<end].map { (index: $0, text: text(of: sample($0))) }
        order.replaceSubrange(start..<end, with: exact.sorted { $0.text < $1.text }.map(\.index))
      }
      start = end
    }
    return order
  }

  private static func text(of sample: Sample) -> String {
    var copy = sample
    copy.uuid = .undecided
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    // Every sample that the export reader makes can be written as JSON.
    return (try? encoder.encode(copy)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  private static func name(of payload: Payload) -> String? {
    switch payload.content?.rankDetail {
    case .text(let text): text
    case .measured: hash(payload.measured)
    case .nothing, nil: nil
    }
  }

  /// Returns a hash of the measured data, which does not depend on the names of the files that contained it.
  private static func hash(_ payload: Payload) -> String? {
    (try? CodedPayload(payload))?.json.map { String($0.withBytes(\.stableHash), radix: 16) }
  }
}
