import HealthModel
import TestSupport
import Testing

/// The kinds of destination that the behaviour tests cover.
enum DestinationHarnesses {
  static let all: [ListedHarness] = [
    ListedHarness(CalDAVHarness.self),
    ListedHarness(CommandHarness.self),
    ListedHarness(DailySummaryHarness.self),
    ListedHarness(FHIRHarness.self),
    ListedHarness(FilesHarness.self),
    ListedHarness(FolderHarness.self),
    ListedHarness(HomeAssistantHarness.self),
    ListedHarness(MQTTHarness.self),
    ListedHarness(ParcelHarness.self),
    ListedHarness(S3Harness.self),
    ListedHarness(WebDAVHarness.self),
    ListedHarness(WebhookHarness.self),
  ]

  static func steps(_ count: Int) -> [Sample] {
    var maker = SampleMaker(seed: 16)
    return (0..<count).map { maker.steps(at: $0) }
  }
}

/// A kind of destination whose server is started when the first test needs it.
struct ListedHarness: Sendable, CustomTestStringConvertible {
  let testDescription: String
  private let shared: SharedHarness

  init<Harness: DestinationHarness>(_ harness: Harness.Type) {
    testDescription = Harness.Place.description.kind.rawValue
    shared = SharedHarness { try await Harness.start() }
  }

  /// Returns the harness shared by all tests, or prints a message and returns `nil` if it can't be started here.
  func harness() async throws -> (any DestinationHarness)? {
    do {
      return try await shared.harness()
    } catch let error as HarnessUnavailable {
      print("\(testDescription): passed over, \(error)")
      return nil
    }
  }
}

private actor SharedHarness {
  private let start: @Sendable () async throws -> any DestinationHarness
  private var starting: Task<any DestinationHarness, any Error>?

  init(_ start: @escaping @Sendable () async throws -> any DestinationHarness) { self.start = start }

  func harness() async throws -> any DestinationHarness {
    let task = starting ?? Task { try await start() }
    starting = task
    return try await task.value
  }
}
