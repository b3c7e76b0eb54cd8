import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

@Suite struct OpeningTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test func theIdentifierStays() throws {
    let first = try HealthStore(directory: directory.path("store")).id
    #expect(try HealthStore(directory: directory.path("store")).id == first)
    #expect(try HealthStore(directory: directory.path("other")).id != first)
  }

  @Test func aMissingStoreIsNotMadeUnlessAskedFor() throws {
    let path = directory.path("store")
    #expect(throws: StoreError.missing(path: path + "/store.sqlite")) {
      try HealthStore(directory: path, create: false)
    }
    #expect(!FileManager.default.fileExists(atPath: path))

    let existing = directory.path
    #expect(throws: StoreError.missing(path: existing + "/store.sqlite")) {
      try HealthStore(directory: existing, create: false)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: existing).isEmpty)
  }

  @Test func anExistingStoreOpensWithoutBeingMade() async throws {
    let id = try HealthStore(directory: directory.path).id
    #expect(try HealthStore(directory: directory.path, create: false).id == id)
  }

  @Test func directoriesOnTheWayAreMade() throws {
    _ = try HealthStore(directory: directory.path("a/b/c"))
    #expect(try directory.mode("a/b/c") == 0o700)
  }

  @Test func onlyTheOwnerMayReadAnything() async throws {
    let store = try HealthStore(directory: directory.path("store"))
    var maker = SampleMaker(seed: 1)
    try await store.add(maker.steps(at: 0))
    #expect(try directory.mode("store") == 0o700)
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.path("store")) {
      #expect(try directory.mode("store/" + name) == 0o600, "\(name)")
    }
    #expect(FileManager.default.fileExists(atPath: directory.path("store/store.sqlite-wal")))
    #expect(FileManager.default.fileExists(atPath: directory.path("store/store.sqlite-shm")))
  }

  @Test func aDirectoryThatIsThereKeepsItsModeAndItsFilesAreStillPrivate() throws {
    let path = directory.path("store")
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    _ = try HealthStore(directory: path)
    #expect(try directory.mode("store") == 0o755)
    #expect(try directory.mode("store/store.sqlite") == 0o600)
  }

  /// A dry run's copy must not follow a link at its destination.
  @Test func aCopyGoesOnlyWhereNothingIs() throws {
    let store = try HealthStore(directory: directory.path("store"))
    for name in ["target", "link"] {
      let target = directory.path("target")
      if name == "target" {
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
      } else {
        try FileManager.default.createSymbolicLink(atPath: directory.path(name), withDestinationPath: target)
      }
      #expect(throws: StoreError.self) { try store.copyBlocking(to: directory.path(name)) }
      #expect(try FileManager.default.contentsOfDirectory(atPath: target).isEmpty)
    }
    try store.copyBlocking(to: directory.path("copy"))
    #expect(try directory.mode("copy") == 0o700)
    #expect(try HealthStore(directory: directory.path("copy")).id == store.id)
  }

  @Test func aFileInTheDirectorysPlaceIsRefused() throws {
    let path = directory.path("file")
    try Data("x".utf8).write(to: URL(filePath: path))
    let error = #expect(throws: StoreError.self) { try HealthStore(directory: path) }
    guard case .unusableDirectory(path, let detail) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(!detail.contains("Success"))
    #expect(try Data(contentsOf: URL(filePath: path)) == Data("x".utf8))
  }

  /// Skipped for root, who can write despite the file mode.
  @Test(.enabled(if: geteuid() != 0))
  func aDirectoryThatCannotBeWrittenIsNotPermitted() throws {
    let path = directory.path("store")
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    _ = try HealthStore(directory: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: path)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path) }
    #expect(throws: StoreError.notPermitted(path: path + "/store.sqlite")) {
      try HealthStore(directory: path, create: false)
    }
  }

  @Test func tenFirstOpensAtOnceAllSucceed() async throws {
    let path = directory.path("store")
    let ids = try await withThrowingTaskGroup(of: UUID.self) { group in
      for _ in 0..<10 {
        group.addTask {
          // Opening blocks, and the threads of tasks are too few for ten at once.
          try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
              continuation.resume(with: Result { try HealthStore(directory: path).id })
            }
          }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(ids.count == 10)
    #expect(Set(ids).count == 1)
  }
}
