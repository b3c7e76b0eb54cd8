import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import TestSupport

/// A home with a single destination, and the measured first delivery of all samples.
struct TimedDelivery {
  let home: String
  let seconds: Double
  /// The peak resident memory, in bytes.
  let peak: Int
  let delivered: Int

  /// Returns the default number of samples to deliver.
  static func count(_ bench: Bench) -> Int { max(1_000, bench.sizes.samples / 10) }

  /// Returns the number of samples for servers that take long for each.
  static func few(_ bench: Bench) -> Int { max(50, bench.sizes.samples / 1_000) }

  /// - Parameters:
  ///   - section: The lines of `[destination.place]`.
  ///   - count: The number of samples, or `nil` for ``count(_:)``.
  ///   - make: A closure that returns the sample with a given index.
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

  /// Fills a store. By default with a step count for each minute: 100,000 samples are about 70 days.
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

/// The measurements of several deliveries, alternating with the same work by hand.
struct DeliveryComparison {
  private var seconds: [Double] = []
  private var floors: [Double] = []
  private var peaks: [Double] = []
  private var samples = 0
  private var bytes = 0

  /// - Parameter floor: The time in seconds and the number of bytes of the same work by hand.
  mutating func add(_ delivery: TimedDelivery, floor: (seconds: Double, bytes: Int)) {
    seconds.append(delivery.seconds)
    peaks.append(Double(delivery.peak) / 1_048_576)
    floors.append(floor.seconds)
    (samples, bytes) = (delivery.delivered, floor.bytes)
  }

  /// Parses the output of a program that did the same work by hand: its time in seconds and its number of bytes.
  static func floor(_ said: String, of program: String) throws -> (seconds: Double, bytes: Int) {
    let numbers = said.split(whereSeparator: \.isWhitespace)
    guard numbers.count == 2, let seconds = Double(numbers[0]), let bytes = Int(numbers[1]) else {
      throw BenchFailure("\(program) said \(said)")
    }
    return (seconds, bytes)
  }

  /// - Parameter byHand: The name of the work by hand.
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
