import Foundation
import HealthModel
import TestSupport
import Testing

@testable import Destinations

/// Tests of a folder on a disk that is unmounted, which reveals an empty folder at the same path.
@Suite(.timeLimit(.minutes(1))) struct FolderExchangedTests {
  private let home: DestinationHome
  private let folder: String
  private let disk: String
  private let samples: [Sample]

  init() throws {
    home = try DestinationHome()
    (folder, disk) = (home.directory.path("folder"), home.directory.path("disk"))
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    var maker = SampleMaker(seed: 3)
    samples = (0..<6).map { maker.steps(at: $0) }
  }

  private func unmount() throws {
    try FileManager.default.moveItem(atPath: folder, toPath: disk)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
  }

  /// Mounts the disk again. Throws if something was written into the folder below.
  private func mount() throws {
    guard rmdir(folder) == 0 else { throw CocoaError(.fileWriteFileExists) }
    try FileManager.default.moveItem(atPath: disk, toPath: folder)
  }

  /// Creates a destination, as a new process would.
  private func destination(prefix: String? = nil) throws -> FolderDestination {
    try home.make(
      FolderDestination.self,
      ["path": .text(folder)].merging(prefix.map { ["prefix": .text($0)] } ?? [:]) { first, _ in first })
  }

  private var delivered: Int {
    get throws {
      let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
      return try files.filter { $0.hasSuffix("data.jsonl") }.reduce(0) { count, file in
        try count + String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8).split(separator: "\n").count
      }
    }
  }

  @Test("nothing is written below the place where a disk is to be mounted", arguments: [nil, "health/ada"])
  func unmounted(_ prefix: String?) async throws {
    try await home.add(Array(samples[..<3]))
    try await destination(prefix: prefix).check()
    _ = try await home.deliver(to: destination(prefix: prefix))
    try await home.add(Array(samples[3...]))
    try unmount()
    let error = await #expect(throws: CourierError.self) {
      try await home.deliver(to: destination(prefix: prefix))
    }
    #expect(error.map { "\($0)" }?.contains("mount what it is on") == true)
    await #expect(throws: DeliveryError.self) { try await destination(prefix: prefix).check() }
    try mount()
    #expect(try await home.deliver(to: destination(prefix: prefix)).delivered == 3)
    #expect(try delivered == 6)
  }

  @Test("a disk that is unmounted between two files of one delivery gets what follows when it is back")
  func meanwhile() async throws {
    let memory = FolderMemory(of: folder, landmark: "v1", stateFolder: home.directory.path("state"))
    let store = FolderStore(path: folder, memory: memory)
    try await store.put([1], at: "v1/a", contentType: "", if: .absent)
    try unmount()
    await #expect(throws: DeliveryError.self) {
      try await store.put([2], at: "v1/b", contentType: "", if: .absent)
    }
    await #expect(throws: DeliveryError.self) { try await store.synchronize(["v1/a"]) }
    try mount()
    try await store.put([2], at: "v1/b", contentType: "", if: .absent)
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/v1").sorted() == ["a", "b"])
  }

  @Test("an empty folder is begun anew where a person says so, and where the settings name another")
  func begunAnew() async throws {
    try await home.add(Array(samples[..<3]))
    let destination = try destination()
    _ = try await home.deliver(to: destination)
    try unmount()
    try await destination.forget(from: nil)
    try await home.add(Array(samples[3...]))
    #expect(try await home.deliver(to: destination).delivered == 3)
    #expect(try delivered == 3)
    try FileManager.default.removeItem(atPath: "\(folder)/v1")
    await #expect(throws: DeliveryError.self) { try await self.destination().check() }
    try await self.destination(prefix: "other").check()
  }
}
