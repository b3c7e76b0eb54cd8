import Foundation
import TestSupport
import Testing

@testable import Destinations

@Suite struct FolderStoreTests {
  private let directory: TemporaryDirectory
  private let store: FolderStore

  init() throws {
    directory = try TemporaryDirectory(inMemory: true)
    store = FolderStore(path: directory.path)
  }

  private func put(_ text: String, _ name: String = "a/b/c.txt", if condition: PutCondition) async throws {
    try await store.put(Array(text.utf8), at: name, contentType: "text/plain", if: condition)
  }

  @Test("a write happens where what it expects is there, and leaves nothing else behind")
  func conditions() async throws {
    #expect(try await store.get("a/b/c.txt") == nil)
    try await put("1", if: .absent)
    await #expect(throws: ObjectConflict(name: "a/b/c.txt")) { try await put("2", if: .absent) }
    let first = try #require(try await store.get("a/b/c.txt"))
    #expect(first.bytes == Array("1".utf8))
    try await put("2", if: .unchanged(first.version))
    await #expect(throws: ObjectConflict.self) { try await put("3", if: .unchanged(first.version)) }
    try await put("4", if: .always)
    #expect(try await store.get("a/b/c.txt")?.bytes == Array("4".utf8))
    try await store.delete("a/b/c.txt")
    try await store.delete("a/b/c.txt")
    #expect(try await store.get("a/b/c.txt") == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path("a/b")).isEmpty)
  }

  @Test("of many who add to one file nothing is lost")
  func writers() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          while true {
            let object = try await store.get("n")
            do {
              let bytes = (object?.bytes ?? []) + [UInt8(number)]
              try await store.put(bytes, at: "n", contentType: "", if: object.map { .unchanged($0.version) } ?? .absent)
              return
            } catch is ObjectConflict {}
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await store.get("n")?.bytes.sorted() == (0..<20).map { UInt8($0) })
  }

  @Test("a folder that another program keeps locked keeps nobody waiting for ever", .timeLimit(.minutes(5)))
  func locked() async throws {
    let descriptor = open(directory.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    #expect(flock(descriptor, LOCK_EX) == 0)
    let hasty = FolderStore(path: directory.path, patience: .milliseconds(50))
    await #expect(
      throws: DeliveryError.temporary(reason: "another program has locked \(directory.path): let it finish")
    ) { try await hasty.put([1], at: "x", contentType: "", if: .always) }
    let patient = FolderStore(path: directory.path, patience: .seconds(3_600))
    let writing = Task { try await patient.put([2], at: "x", contentType: "", if: .always) }
    writing.cancel()
    await #expect(throws: CancellationError.self) { try await writing.value }
    close(descriptor)
    // A program that begins at this moment may have inherited the lock for a while.
    try await FolderStore(path: directory.path).put([3], at: "x", contentType: "", if: .absent)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["x"])
  }

  @Test("what a killed write has left behind is gone with the next one, and nothing else")
  func leftovers() async throws {
    func make(_ name: String, age: Double = 0) throws {
      try Data("x".utf8).write(to: URL(filePath: directory.path(name)))
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: directory.path(name))
    }
    let uuid = UUID().uuidString.lowercased()
    let kept = [".hpeer-other-\(uuid).tmp", ".hpeer-mine-notes.tmp", "mine-\(uuid).tmp", ".hpeer-mine-\(uuid).txt"]
    for name in kept { try make(name) }
    try make(".hpeer-mine-\(uuid).tmp")
    try make(".hpeer-another-\(uuid).tmp", age: 100_000)
    let mine = FolderStore(path: directory.path, owner: "mine")
    try await mine.put([1], at: "a/b", contentType: "", if: .absent)
    #expect(Set(try FileManager.default.contentsOfDirectory(atPath: directory.path)) == Set(kept + ["a"]))
    // Not while another may write.
    try make(".hpeer-mine-\(uuid).tmp")
    try await mine.put([2], at: "a/b", contentType: "", if: .always)
    #expect(FileManager.default.fileExists(atPath: directory.path(".hpeer-mine-\(uuid).tmp")))
  }

  @Test("what another process of the same owner takes for left behind is written once more")
  func takenForLeftovers() async throws {
    let bytes = [UInt8](repeating: 7, count: 4 << 20)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        // Each deletes what it finds before its first write.
        let store = FolderStore(path: directory.path, owner: "mine")
        group.addTask { try await store.put(bytes, at: "d/\(number)", contentType: "", if: .absent) }
      }
      try await group.waitForAll()
    }
    for number in 0..<4 { #expect(try await store.get("d/\(number)")?.bytes == bytes) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["d"])
  }

  @Test("what was written is kept for good, and what was not is nothing to keep")
  func kept() async throws {
    try await put("1", if: .absent)
    try await store.synchronize(["a/b/c.txt", "a/b/other", "never/written", "here"])
    await #expect(throws: DeliveryError.self) {
      try await FolderStore(path: directory.path("mount")).synchronize(["x"])
    }
  }

  @Test("a folder that is missing is not made, and says so")
  func missing() async throws {
    let store = FolderStore(path: directory.path("mount"))
    for _ in 0..<2 {
      await #expect(
        throws: DeliveryError.temporary(
          reason: "there is no folder \(directory.path("mount")): make it, or mount what it is on")
      ) { try await store.put([1], at: "x", contentType: "", if: .always) }
    }
    #expect(!FileManager.default.fileExists(atPath: directory.path("mount")))
  }

  @Test("what is no file is not overwritten")
  func noFile() async throws {
    try FileManager.default.createDirectory(atPath: directory.path("x"), withIntermediateDirectories: false)
    await #expect(throws: DeliveryError.self) { try await store.get("x") }
    await #expect(throws: DeliveryError.self) {
      try await store.put([1], at: "x", contentType: "", if: .always)
    }
  }
}
