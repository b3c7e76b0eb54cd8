import Destinations
import Foundation

/// ``FilesDestination``: a kind without a server.
struct FilesHarness: DestinationHarness {
  typealias Place = FilesDestination

  static func start() -> Self { Self() }

  /// What it says on its page: a file that only another record had stays.
  var forgets: Bool { false }

  func settings(_ place: HarnessPlace) -> [String: DestinationSettings.Value] { ["folder": .text(place.folder)] }

  func contents(of place: HarnessPlace) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place.folder).map { String($0.dropLast(".json".count)) }
  }
}
