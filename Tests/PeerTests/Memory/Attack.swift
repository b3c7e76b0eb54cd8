import Foundation
import HealthModel
import TestSupport

@testable import PeerProtocol
import ZstandardFrames

/// A response of the change feed that is as large as the limits allow, or larger.
enum Attack: String, CaseIterable {
  case numbers, plain, strings, route, voltages, objects, nested, zeros, metadata, devices, tombstones, frames, texts
  case lineOfNumbers, lineOfObjects, linesWithoutToken, emptyLines, endlessFrame

  var format: ChangeFeedFormat {
    switch self {
    case .lineOfNumbers, .lineOfObjects, .linesWithoutToken, .emptyLines: .lines
    default: .columns
    }
  }

  /// Returns the bytes of the body.
  func body() throws -> [UInt8] {
    let limits = ClientLimits()
    let room = limits.batchBytes - 4_096
    switch self {
    case .numbers:
      return try Self.frame(kind: "future", "[\(Self.numbers(limits.json.weight / 2 - 100, limits.json.bytes - 100))]")
    case .plain:
      return try Self.batch(kind: "future") { $0.samples.json = ["[\(Self.numbers(.max, limits.json.bytes - 100))]"] }
    case .strings:
      let text = Self.numbers(.max, limits.json.bytes - 100)
      return try Self.frame(kind: "visionPrescription", "{\"a\":\"\(text)\"}")
    case .route:
      let column = Self.numbers(limits.columns.weight / 16 - 100, room / 8 - 100)
      let columns = WorkoutRoute.names.map { "\"\($0)\":[\(column)]" }.joined(separator: ",")
      return try Self.frame(kind: "workoutRoute", "{\(columns)}")
    case .voltages:
      return try Self.frame(
        kind: "electrocardiogram", "{\"voltages\":[\(Self.numbers(limits.columns.weight / 2 - 100, room - 100))]}")
    case .objects: return try Self.frame(kind: "future", Self.repeated(#"{"a":1}"#, 12, limits))
    case .nested:
      let depth = limits.json.depth - 10
      let nest = String(repeating: #"{"a":["#, count: depth / 2) + "0" + String(repeating: "]}", count: depth / 2)
      return try Self.frame(
        kind: "future", Self.repeated(nest, (0..<depth).reduce(0) { $0 + 7 * max(1, $1 - 13) }, limits))
    case .zeros: return try Self.frame(kind: "future", Self.repeated("0", 0, limits))
    case .metadata:
      var entries: [String] = []
      for number in 0..<limits.json.weight / 20 - 10 { entries.append("\"k\(number)\":{\"number\":0.\(number)}") }
      let text = "{" + entries.prefix(limits.dictionaryBytes / 32).joined(separator: ",") + "}"
      return try Self.batch {
        $0.samples.metadata = [text]; $0.samples.metadataSet = [1]
      }
    case .devices:
      return try Self.batch(count: limits.batchChanges - 1) { message in
        let size = limits.dictionaryBytes / limits.dictionaryEntries / 20
        message.samples.devices = (0..<limits.dictionaryEntries - 1).map { number in
          let text = String(number) + String(repeating: "x", count: max(0, size - 8))
          return Hpeer_V2_Device(
            Device(
              name: text, manufacturer: text, model: text, hardwareVersion: text, firmwareVersion: text,
              softwareVersion: text, localIdentifier: text, udiDeviceIdentifier: text, text: text))
        }
        message.samples.sources = (0..<limits.dictionaryEntries - 1).map {
          Hpeer_V2_Source(Source(name: "source \($0)", bundleIdentifier: "identifier \($0)", version: "version \($0)"))
        }
        for row in message.samples.type.indices {
          message.samples.device[row] = UInt32(row % (limits.dictionaryEntries - 2)) + 1
          message.samples.source[row] = UInt32(row % (limits.dictionaryEntries - 2))
        }
      }
    case .tombstones:
      var coder = ChangeCoder()
      var maker = SampleMaker(seed: 3)
      for minute in 0..<limits.batchChanges {
        coder.add(Tombstone(sample: maker.steps(at: minute).reference, deleted: Timestamp(seconds: 0)))
      }
      return try ColumnBatchEncoder.encode(ChangeFeedBatch(changes: coder.changes, token: "t", more: false))
    case .frames:
      let half = String(repeating: "0,", count: limits.freelyExpandedBytes / 2 / 10) + "0"
      var body: [UInt8] = []
      for number in 0..<8 {
        body += try Self.batch(kind: "future", token: "t\(number)", more: number < 7) {
          $0.samples.json = ["[\(half)] "]
        }
      }
      return body
    case .texts:
      return try Self.batch(count: limits.batchChanges - 1) { message in
        message.samples.kinds = ["future"]
        message.samples.unit = message.samples.unit.map { _ in 0 }
        message.samples.form = Data(repeating: SampleForm.json, count: message.samples.type.count)
        message.samples.decimal = []
        let numbers = Self.numbers(20, 400)
        message.samples.json = message.samples.type.indices.map { "[\(numbers),\($0)] " }
      }
    case .lineOfNumbers:
      return Self.line(kind: "future", "[\(Self.numbers(limits.line.weight / 2 - 200, limits.line.bytes - 4_096))]")
    case .lineOfObjects:
      return Self.line(kind: "future", Self.repeated(#"{"a":1}"#, 12, limits, in: limits.line.weight))
    case .linesWithoutToken:
      let numbers = Self.numbers(40, 600)
      var body: [UInt8] = []
      for number in 0..<60_000 {
        body += Self.line(
          kind: "future", "[\(numbers),\(number)]", source: "source \(number)", token: false)
      }
      return body
    case .emptyLines: return [UInt8](repeating: 0x0A, count: 64 << 20)
    case .endlessFrame:
      let length = UInt32(limits.frameBytes).bigEndian
      return withUnsafeBytes(of: length) { Array($0) } + [UInt8](repeating: 7, count: limits.frameBytes - 1)
    }
  }

  /// Numbers of 17 bytes each, including commas, that can't be compressed and, as doubles, have no shorter form.
  private static let randomNumbers: [UInt8] = {
    var random = SeededGenerator(seed: 1)
    var text: [UInt8] = []
    for _ in 0..<250_000 {
      var digits = random.next()
      text += [UInt8(ascii: "1"), UInt8(ascii: ".")]
      for _ in 0..<14 {
        text.append(UInt8(ascii: "1") + UInt8(digits % 9))
        digits /= 9
      }
      text.append(UInt8(ascii: ","))
    }
    return text
  }()

  /// Returns at most `count` numbers in at most `bytes` bytes.
  private static func numbers(_ count: Int, _ bytes: Int) -> String {
    var rest = 17 * min(count, bytes / 17) - 1
    var text = ""
    // What is repeated from so far away is new to the compressor.
    while rest > 0 {
      text += String(decoding: randomNumbers.prefix(rest), as: UTF8.self)
      rest -= randomNumbers.count
    }
    return text
  }

  /// Returns as many copies of a text as the limits on values and weight allow.
  private static func repeated(
    _ text: String, _ weight: Int, _ limits: ClientLimits, in all: Int? = nil
  ) -> String {
    let count = min(
      ((all ?? limits.json.weight) - 200) / (weight + 2), (limits.freelyExpandedBytes - 9_000) / (text.utf8.count + 1))
    return "[" + Array(repeating: text, count: count).joined(separator: ",") + "]"
  }

  /// Returns a frame with a JSON payload. The added space forces the client to decode JSON of an unknown kind.
  private static func frame(kind: String, _ json: String) throws -> [UInt8] {
    try batch(kind: kind) { $0.samples.json = [kind == "future" ? json + " " : json] }
  }

  /// - Parameter kind: The kind of samples with JSON, or `nil` for step counts.
  private static func batch(
    count: Int = 1, kind: String? = nil, token: String = "t", more: Bool = false,
    _ change: (inout Hpeer_V2_ChangeBatch) -> Void
  ) throws -> [UInt8] {
    var (coder, maker) = (ChangeCoder(), SampleMaker(seed: UInt64(token.utf8.reduce(0) { $0 &* 31 &+ Int($1) })))
    for minute in 0..<count {
      var sample = maker.steps(at: minute)
      if let kind { sample.payload = .unknown(kind: kind, content: .null) }
      try coder.add(sample)
    }
    var message = Hpeer_V2_ChangeBatch()
    message.samples = Hpeer_V2_SampleColumns(coder.changes)
    (message.token, message.more) = (token, more)
    change(&message)
    let frame = try Zstandard.compress(try message.serializedBytes())
    return withUnsafeBytes(of: UInt32(frame.count).bigEndian) { Array($0) } + frame
  }

  private static func line(kind: String, _ payload: String, source: String = "s", token: Bool = true) -> [UInt8] {
    let head = #"{"added":{"uuid":"\#(UUID().uuidString)","type":"t","start":"2024-01-01","end":"2024-01-01","#
    var text = head + #""source":{"name":"\#(source)"},"kind":"\#(kind)","payload":\#(payload)}}"# + "\n"
    if token { text += #"{"token":"t","more":false}"# + "\n" }
    return Array(text.utf8)
  }
}

extension WorkoutRoute {
  fileprivate static let names = [
    "course", "elevation", "horizontalAccuracy", "latitude", "longitude", "speed", "time", "verticalAccuracy",
  ]
}
