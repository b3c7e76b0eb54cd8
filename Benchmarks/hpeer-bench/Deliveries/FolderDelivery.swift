import Foundation
import HealthModel
import OperatingSystem
import TestSupport

/// A benchmark of the destination `folder`, compared with plain writes of the same files.
struct FolderDelivery {
  private let bench: Bench
  private let row: DestinationRow

  /// - Parameter row: Either `folder`, a file of a megabyte for each day, or `folderYears`, many small files.
  init(_ bench: Bench, _ row: DestinationRow) { (self.bench, self.row) = (bench, row) }

  func measure() async throws -> Row {
    var comparison = DeliveryComparison()
    var unkept: [Double] = []
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      let place = bench.workspace.fresh("place")
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
      let section = ["kind = \"folder\"", "path = \"\(place)\""]
      let delivery =
        row == .folder
        ? try await TimedDelivery(bench, section)
        : try await TimedDelivery(
          bench, section, count: max(1_000, TimedDelivery.count(bench) / 5), of: Self.sampleOfYears)
      let (copy, other) = (bench.workspace.fresh("copy"), bench.workspace.fresh("copy"))
      bench.workspace.settle()
      let kept = try await onThread { _ in try Self.write(place, to: copy, isKept: true) }
      bench.workspace.settle()
      let plain = try await onThread { _ in try Self.write(place, to: other, isKept: false) }
      if round >= bench.sizes.warmUps {
        comparison.add(delivery, floor: kept)
        unkept.append(delivery.seconds / plain.seconds)
      }
      for path in [place, copy, other, delivery.home] { bench.workspace.remove(path) }
    }
    var result = comparison.row(row, byHand: "the same writes", goal: .atMost(1.2))
    result.add("hpeer / writes that wait for no disk", medianOf: unkept, .ratio)
    return result
  }

  private static let types = [
    ("StepCount", "count"), ("HeartRate", "count/min"), ("ActiveEnergyBurned", "kcal"),
    ("DistanceWalkingRunning", "m"),
  ].map { (type: SampleType("HKQuantityTypeIdentifier\($0)"), unit: $1) }

  /// Returns a sample of a series with a sample of each type every two hours, so that a day has few samples but the
  /// series spans years.
  private static func sampleOfYears(_ maker: inout SampleMaker, _ number: Int) -> Sample {
    var sample = maker.steps(at: number / types.count * 120)
    let (type, unit) = types[number % types.count]
    sample.type = type
    sample.payload = .quantity(Quantity(Double(40 + number % 60), unit))
    return sample
  }

  /// Reads the files of a folder into memory and writes them to another folder, one after the other.
  ///
  /// - Parameter isKept: Whether each file is written durably: to a draft that is synced, renamed and followed by a
  /// sync of the folder, before the next file. Otherwise files are written without any sync.
  private static func write(_ place: String, to copy: String, isKept: Bool) throws -> (seconds: Double, bytes: Int) {
    let files = try DeliveredFiles.all(in: place).map { name in
      (name, try Data(contentsOf: URL(fileURLWithPath: "\(place)/\(name)")))
    }
    let started = ContinuousClock.now
    for (name, content) in files {
      let file = URL(fileURLWithPath: "\(copy)/\(name)")
      let folder = file.deletingLastPathComponent()
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let written = isKept ? "\(copy)/draft" : file.path
      try content.withUnsafeBytes { try Self.write($0, to: written, isKept: isKept) }
      guard isKept else { continue }
      guard rename(written, file.path) == 0 else { throw BenchFailure("\(file.path) cannot be written.") }
      let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard descriptor >= 0 else { throw BenchFailure("\(folder.path) cannot be opened.") }
      defer { close(descriptor) }
      guard fsync(descriptor) == 0 else { throw BenchFailure("\(folder.path) cannot be written.") }
    }
    return (started.duration(to: .now).seconds, files.reduce(0) { $0 + $1.1.count })
  }

  private static func write(_ bytes: UnsafeRawBufferPointer, to path: String, isKept: Bool) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw BenchFailure("\(path) cannot be written.") }
    defer { close(descriptor) }
    guard writeAll(bytes, to: descriptor) == 0, !isKept || fsync(descriptor) == 0 else {
      throw BenchFailure("\(path) cannot be written.")
    }
  }
}

/// A helper that lists the files that a destination has written.
enum DeliveredFiles {
  /// Returns the paths of the files, relative to the folder, in order.
  static func all(in folder: String) throws -> [String] {
    var names: [String] = []
    for case let name as String in FileManager.default.enumerator(atPath: folder) ?? .init() {
      var status = stat()
      if stat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG { names.append(name) }
    }
    guard !names.isEmpty else { throw BenchFailure("hpeer has written no file into \(folder).") }
    return names.sorted()
  }
}
