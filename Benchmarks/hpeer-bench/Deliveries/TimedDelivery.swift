import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import TestSupport

/// A home with one destination, from the first delivery of everything to its end.
struct TimedDelivery {
  let home: String
  let seconds: Double
  /// Of the resident memory, in bytes.
  let peak: Int
  let delivered: Int

  /// How many samples are delivered.
  static func count(_ bench: Bench) -> Int { max(1_000, bench.sizes.samples / 10) }

  /// How many where each takes the server long.
  static func few(_ bench: Bench) -> Int { max(50, bench.sizes.samples / 1_000) }

  /// - Parameters:
  ///   - section: lines of `[destination.place]`.
  ///   - count: how many samples; ``count(_:)`` where nothing else is said.
  ///   - make: the sample of a number.
  init(
    _ bench: Bench, _ section: [String], count: Int? = nil,
    of make: (inout SampleMaker, Int) -> Sample = { $0.steps(at: $1) }
  ) async throws {
    let count = count ?? Self.count(bench)
    home = bench.workspace.fresh("delivering")
    try await Self.fill(home, count, of: make)
    try Self.write(["[destination.place]"] + section, to: home)
    bench.workspace.settle()
    let outcome = try await bench.program.run(["sync", "--json"], home: home, watchesMemory: true, in: bench.workspace)
    (seconds, peak) = (outcome.seconds, outcome.peak)
    delivered = try outcome.json()["delivered"] as? Int ?? 0
    guard delivered == count else {
      throw BenchFailure("hpeer delivered \(delivered) of \(count): \(outcome.output)\(outcome.errors)")
    }
  }

  /// By default a step count for each minute: some 70 days of 100,000.
  private static func fill(
    _ home: String, _ count: Int, of make: (inout SampleMaker, Int) -> Sample
  ) async throws {
    try FileManager.default.createDirectory(
      atPath: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let store = try HealthStore(directory: home)
    var maker = SampleMaker(seed: 1)
    for start in stride(from: 0, to: count, by: 20_000) {
      let samples = (start..<min(start + 20_000, count)).map { make(&maker, $0) }
      _ = try await store.apply(ChangeBatch(additions: samples))
    }
  }

  static func write(_ lines: [String], to home: String) throws {
    try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: home + "/config.toml"))
  }
}

/// Several deliveries, and the same work by hand in between.
struct DeliveryComparison {
  private var seconds: [Double] = []
  private var floors: [Double] = []
  private var peaks: [Double] = []
  private var samples = 0
  private var bytes = 0

  /// - Parameter floor: seconds of the same work by hand, and its bytes.
  mutating func add(_ delivery: TimedDelivery, floor: (seconds: Double, bytes: Int)) {
    seconds.append(delivery.seconds)
    peaks.append(Double(delivery.peak) / 1_048_576)
    floors.append(floor.seconds)
    (samples, bytes) = (delivery.delivered, floor.bytes)
  }

  /// What a program printed that did the same work by hand: its seconds, and its bytes.
  static func floor(_ said: String, of program: String) throws -> (seconds: Double, bytes: Int) {
    let numbers = said.split(whereSeparator: \.isWhitespace)
    guard numbers.count == 2, let seconds = Double(numbers[0]), let bytes = Int(numbers[1]) else {
      throw BenchFailure("\(program) said \(said)")
    }
    return (seconds, bytes)
  }

  /// - Parameter byHand: what the work by hand is called.
  func row(_ row: DestinationRow, byHand: String, goal: Measure.Goal? = nil) -> Row {
    var result = Row(row)
    result.add("samples a second", Double(samples) / median(seconds), .perSecond)
    result.add("bytes a sample", Double(bytes) / Double(max(1, samples)), .bytesPerSample)
    result.add("\(byHand), samples a second", Double(samples) / median(floors), .perSecond)
    result.add("hpeer / \(byHand)", median(seconds) / median(floors), .ratio, goal: goal)
    result.add("peak memory", medianOf: peaks, .mebibytes, goal: .atMost(96))
    return result
  }
}
