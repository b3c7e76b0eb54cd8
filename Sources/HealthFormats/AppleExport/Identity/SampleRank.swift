import Foundation
import HealthModel

/// Where a sample stands among those with an equal key, whatever the order of the file and the units in it.
struct SampleRank: Comparable {
  /// The canonical value as a number where it is one: text would order 9 after 10.
  private let number: Double
  let value: String
  /// End, category name, metadata and members.
  private let content: String

  /// - Parameter members: the ranks of a correlation's members as text.
  init(_ sample: Sample, members: [String] = []) {
    value = sample.canonicalValue
    number = Double(value) ?? -.infinity
    var content = [String(sample.end.microseconds), Self.name(of: sample.payload) ?? ""]
    for (key, value) in sample.metadata.sorted(by: { $0.key < $1.key }) { content += [key, "\(value)"] }
    content += members.sorted()
    self.content = content.joined(separator: "\u{1F}")
  }

  /// The rank as text. Samples with equal texts say the same, as far as every export prints it.
  var text: String { "\(value)\u{1F}\(content)" }

  static func < (a: SampleRank, b: SampleRank) -> Bool {
    if a.number != b.number { return a.number < b.number }
    return a.value == b.value ? a.content < b.content : a.value < b.value
  }

  /// The indices of `ranks` from first to last. `sample` is asked only for those whose ranks are equal: they are told
  /// apart by all that they say, and where that is equal too, it does not matter which is which.
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
    // JSON says every sample that the reader of an export makes.
    return (try? encoder.encode(copy)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  private static func name(of payload: Payload) -> String? {
    switch payload.content?.rankDetail {
    case .text(let text): text
    case .measured: hash(payload.measured)
    case .nothing, nil: nil
    }
  }

  /// What was measured, whatever the files are called that it was in.
  private static func hash(_ payload: Payload) -> String? {
    (try? CodedPayload(payload))?.json.map { String($0.withBytes(\.stableHash), radix: 16) }
  }
}
