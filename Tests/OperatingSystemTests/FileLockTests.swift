import Foundation
import OperatingSystem
import TestSupport
import Testing

@Suite("Locks on files")
struct FileLockTests {
  private let scratch: TemporaryDirectory
  private var path: String { scratch.path("a.lock") }

  init() throws { scratch = try TemporaryDirectory() }

  @Test("many may share it, one has it alone, and it is free when it is let go of")
  func sharing() throws {
    var first: FileLock? = try FileLock(path, .shared)
    let second = try FileLock(ifFree: path, .shared)
    #expect(second != nil)
    #expect(try FileLock(ifFree: path, .alone) == nil)
    withExtendedLifetime(first) {}
    first = nil
    #expect(try FileLock(ifFree: path, .alone) == nil)
    withExtendedLifetime(second) {}
  }

  @Test("whoever waits for it gets it")
  func waiting() async throws {
    var holder: FileLock? = try FileLock(path, .alone)
    async let waiter: Void = onThread { [path] _ in _ = try FileLock(path, .shared) }
    withExtendedLifetime(holder) {}
    holder = nil
    try await waiter
    #expect(try FileLock(ifFree: path, .alone) != nil)
  }

  @Test("whoever waits for it and is cancelled gets nothing, and holds nothing")
  func cancelling() async throws {
    let holder = try FileLock(path, .alone)
    let (waits, waiting) = AsyncStream<Void>.makeStream()
    let waiter = Task { [path] in
      try await onThread { isCancelled in
        let lock = try FileLock(path, .shared) {
          waiting.yield()
          return isCancelled()
        }
        return lock == nil
      }
    }
    for await _ in waits.prefix(1) {}
    waiter.cancel()
    #expect(try await waiter.value)
    #expect(try FileLock(ifFree: path, .shared) == nil)
    withExtendedLifetime(holder) {}
  }

  @Test("the kernel shows who holds it")
  func holders() throws {
    let lock = try FileLock(path, .alone)
    let inode = try #require(FileStatus(path)).inode
    let found = try #require(KernelLock.all().first { $0.inode == inode })
    withExtendedLifetime(lock) {}
    #expect(found.kind == "FLOCK" && found.isExclusive && found.process == getpid() && found.start == "0")
  }

  @Test("lines that say nothing of a lock are passed over")
  func lines() {
    let lines = """
      1: POSIX  ADVISORY  READ 5443 fe:00:1351971 128 128
      1: -> POSIX  ADVISORY  WRITE 5444 fe:00:1351971 128 128
      2: FLOCK  ADVISORY  WRITE -1 fe:00:41 0 EOF

      3: FLOCK
      4: FLOCK  ADVISORY  WRITE 9 fe:00:x 0 EOF
      """
    let found = KernelLock.parse(lines)
    #expect(found.map(\.inode) == [1_351_971, 41])
    #expect(found.map(\.isExclusive) == [false, true])
    #expect(found.map(\.process) == [5443, -1])
    #expect(found.map(\.start) == ["128", "0"])
  }

  @Test("two paths are exchanged, with what they name")
  func exchange() throws {
    let (first, second) = (scratch.path("a"), scratch.path("b"))
    try PrivateFile.create(first, [1])
    try PrivateFile.create(second, [2])
    try PrivateFile.exchange(first, second)
    #expect(try PrivateFile.read(first).bytes == [2])
    #expect(try PrivateFile.read(second).bytes == [1])
    #expect(throws: SystemError.self) { try PrivateFile.exchange(first, scratch.path("c")) }
    #expect(try PrivateFile.read(first).bytes == [2])
  }
}
