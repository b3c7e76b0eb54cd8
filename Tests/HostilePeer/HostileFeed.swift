import Foundation
import HealthModel
import PeerProtocol
import TestSupport

/// The change feed of a hostile server: honest batches, batches without progress and invalid batches.
struct HostileFeed: Sendable {
  /// The body of a response.
  struct Page: Sendable {
    var since: String?
    var format: ChangeFeedFormat
    var body: [UInt8]
  }

  private var maker: SampleMaker
  private var number = 0
  /// Samples sent before, some of which are sent again.
  private var old: [Sample] = []
  /// The samples that the client had before the trial.
  private let known: [Sample]
  private var answers = 0

  init(_ random: SeededGenerator, known: [Sample]) {
    maker = SampleMaker(seed: 0)
    maker.random = random
    self.known = known
  }

  mutating func page(since: String?, _ choices: inout Choices) -> Page {
    answers += 1
    let format: ChangeFeedFormat = choices.below(2) == 0 ? .columns : .lines
    // What goes on for ever must be ended by the client; an honest feed has an end.
    let manner = choices.below(16)
    var body: [UInt8] = []
    switch manner {
    case 0...8:
      let count = choices.below(5)
      let isUnfinished = answers < 20 && choices.oneIn(3)
      for index in 0...count {
        let more = index < count || isUnfinished
        append(batch(atLeast: more ? 1 : 0, more: more, &choices), format, &body)
      }
    case 9: append(ChangeFeedBatch(changes: CodedChanges(), token: token(), more: true), format, &body)
    case 10:
      append(
        ChangeFeedBatch(changes: batch(atLeast: 1, more: true, &choices).changes, token: since ?? "", more: true),
        format, &body)
    case 11:
      // The same again and again, under new tokens.
      let changes = batch(atLeast: 1, more: true, &choices).changes
      for _ in 0...choices.below(40) {
        append(ChangeFeedBatch(changes: changes, token: token(), more: true), format, &body)
      }
    case 12:
      for _ in 0...choices.below(4) { append(batch(atLeast: 0, more: false, &choices), format, &body) }
    case 13:
      append(batch(atLeast: 1, more: true, &choices), format, &body)
      body +=
        (try? ChangeFeedEncoder(format).encode(
          error: choices.pick(["no", "\u{1b}[2J", String(repeating: "x", count: 9_000)]))) ?? []
    case 14:
      append(
        ChangeFeedBatch(
          changes: oddTimes(&choices), token: choices.pick(["t", "", String(repeating: "t", count: 1_001)]), more: false
        ), format, &body)
    default: body = bomb(format, &choices)
    }
    return Page(since: since, format: format, body: HostileBytes.changed(body, &choices, isJSON: format == .lines))
  }

  private mutating func token() -> String {
    number += 1
    return "token-\(number)"
  }

  private func append(_ batch: ChangeFeedBatch, _ format: ChangeFeedFormat, _ body: inout [UInt8]) {
    body += (try? ChangeFeedEncoder(format).encode(batch)) ?? []
  }

  private mutating func batch(atLeast least: Int, more: Bool, _ choices: inout Choices) -> ChangeFeedBatch {
    var coder = ChangeCoder()
    for _ in 0..<least + choices.below(6) {
      if choices.oneIn(5), let sample = old.last {
        try? coder.add(sample)
      } else if choices.oneIn(5), let sample = (old + known).randomElement(using: &maker.random) {
        coder.add(Tombstone(sample: sample.reference, deleted: maker.timestamp()))
      } else {
        let sample = maker.sample()
        old.append(sample)
        try? coder.add(sample)
      }
    }
    return ChangeFeedBatch(changes: coder.changes, token: token(), more: more)
  }

  private static let edges = Array(SampleMaker.edgeCases.dropLast(3))

  /// Returns changes with extreme instants and with payloads of invalid numbers.
  private mutating func oddTimes(_ choices: inout Choices) -> CodedChanges {
    var coder = ChangeCoder()
    for _ in 0...choices.below(20) {
      guard var sample = Self.edges.randomElement(using: &maker.random) else { continue }
      sample.uuid = maker.uuid()
      (sample.start, sample.end) = (maker.timestamp(), maker.timestamp())
      old.append(sample)
      try? coder.add(sample)
    }
    return coder.changes
  }

  private func bomb(_ format: ChangeFeedFormat, _ choices: inout Choices) -> [UInt8] {
    if format == .lines {
      return Array(String(repeating: choices.pick(["\n", " ", "x", "{}\n"]), count: choices.below(65_536) * 2).utf8)
    }
    switch choices.below(3) {
    case 0: return [0xFF, 0xFF, 0xFF, 0xFF] + (0..<64).map { _ in choices.byte() }
    case 1: return [0, 0, 0, 0]
    default:
      // An error is the shortest way to a frame of many equal bytes.
      let text = String(repeating: choices.pick(["\u{0}", "a"]), count: 1 << (10 + choices.below(12)))
      return (try? ChangeFeedEncoder(format).encode(error: text)) ?? []
    }
  }
}
