import Foundation
import HealthModel

/// Reads a server's change feed saved as NDJSON: additions and deletions. Tokens are ignored. A line may also be a
/// bare sample.
enum ChangeFeedReader {
  private enum Line: Decodable {
    case added(Sample, KeyStatement?)
    case deleted(Tombstone)
    case token
    case error

    private enum Key: String, CodingKey { case added, statement, deleted, token, error, uuid }

    init(from decoder: any Decoder) throws {
      let object = try decoder.container(keyedBy: Key.self)
      if object.contains(.uuid) {
        self = .added(try Sample(from: decoder), nil)
      } else if let sample = try object.decodeIfPresent(Sample.self, forKey: .added) {
        self = .added(sample, try object.decodeIfPresent(KeyStatement.self, forKey: .statement))
      } else if let tombstone = try object.decodeIfPresent(Tombstone.self, forKey: .deleted) {
        self = .deleted(tombstone)
      } else if object.contains(.token) {
        self = .token
      } else if object.contains(.error) {
        self = .error
      } else {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no change"))
      }
    }
  }

  static func read(
    _ scanner: consuming JSONScanner, into collector: inout SampleCollector, _ progress: (Int64) throws -> Void
  ) throws {
    let decoder = JSONDecoder()
    var meter = ProgressMeter(base: 0)
    while try scanner.peek() != nil {
      let value = try scanner.value(limit: SampleFile.maximumSample)
      switch try scanner.decode(Line.self, from: value, with: decoder) {
      case .added(let sample, let statement):
        try collector.add(
          sample, statement: statement, weight: value.bytes.count, line: { scanner.position.line })
      case .deleted(let tombstone): try collector.add(tombstone)
      case .token: break
      case .error:
        let place = scanner.position.line
        collector.report.remarks.add("the server that sent the feed stopped in the middle") { place }
        collector.report.end = collector.report.end ?? scanner.position
      }
      try meter.update(scanner.bytesRead, progress)
    }
  }
}
