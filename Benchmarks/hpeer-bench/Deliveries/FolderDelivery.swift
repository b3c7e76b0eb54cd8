import Foundation
import OperatingSystem

/// The destination `folder`.
struct FolderDelivery {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    var comparison = DeliveryComparison()
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      let place = bench.workspace.fresh("place")
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
      let delivery = try await TimedDelivery(bench, ["kind = \"folder\"", "path = \"\(place)\""])
      let copy = bench.workspace.fresh("copy")
      let floor = try await onThread { _ in try Self.floor(place, copy) }
      if round >= bench.sizes.warmUps { comparison.add(delivery, floor: floor) }
      for path in [place, copy, delivery.home] { bench.workspace.remove(path) }
    }
    return comparison.row(.folder, byHand: "plain writes", goal: .atMost(1.2))
  }

  /// Writes the files of a folder, which are in memory, into another one, each down to the disk.
  private static func floor(_ place: String, _ copy: String) throws -> (seconds: Double, bytes: Int) {
    let files = try DeliveredFiles.all(in: place).map { name in
      (name, try Data(contentsOf: URL(fileURLWithPath: "\(place)/\(name)")))
    }
    let started = ContinuousClock.now
    for (name, content) in files {
      let file = URL(fileURLWithPath: "\(copy)/\(name)")
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      let descriptor = open(file.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw BenchFailure("\(file.path) cannot be written.") }
      defer { close(descriptor) }
      let code = content.withUnsafeBytes { writeAll($0, to: descriptor) }
      guard code == 0, fsync(descriptor) == 0 else { throw BenchFailure("\(file.path) cannot be written.") }
    }
    return (started.duration(to: .now).seconds, files.reduce(0) { $0 + $1.1.count })
  }
}

/// Files that a destination has written.
enum DeliveredFiles {
  /// Their names below a folder, in order.
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
