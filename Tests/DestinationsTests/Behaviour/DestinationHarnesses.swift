import HealthModel
import TestSupport
import Testing

/// The kinds that the suite of behaviours holds to what every destination must do.
enum DestinationHarnesses {
  static let all: [ListedHarness] = [
    ListedHarness(CommandHarness.self),
    ListedHarness(DailySummaryHarness.self),
    ListedHarness(FilesHarness.self),
    ListedHarness(FolderHarness.self),
    ListedHarness(HomeAssistantHarness.self),
    ListedHarness(MQTTHarness.self),
    ListedHarness(ParcelHarness.self),
  ]

  static func steps(_ count: Int) -> [Sample] {
    var maker = SampleMaker(seed: 16)
    return (0..<count).map { maker.steps(at: $0) }
  }
}

/// One kind, started when the first test asks for it.
struct ListedHarness: Sendable, CustomTestStringConvertible {
  let testDescription: String
  private let shared: SharedHarness

  init<Harness: DestinationHarness>(_ harness: Harness.Type) {
    testDescription = Harness.Place.description.kind.rawValue
    shared = SharedHarness { try await Harness.start() }
  }

  /// The one of all tests; `nil`, with a message, where it cannot be started here.
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
