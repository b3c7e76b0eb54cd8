import OperatingSystem
import Testing

@Suite(.timeLimit(.minutes(1))) struct MemoryLimitTests {
  private struct TooMuch: Error {}

  @Test("work that grows further than it may is cancelled")
  func grows() async throws {
    await #expect(throws: TooMuch.self) {
      try await within(growth: 32 << 20, orThrow: TooMuch(), pause: .milliseconds(1)) {
        var held: [[UInt8]] = []
        // Written to, so that the kernel has to give the pages.
        while !Task.isCancelled, held.count < 4_096 {
          held.append([UInt8](repeating: UInt8(held.count & 255), count: 1 << 20))
          await Task.yield()
        }
        return held.count
      }
    }
  }

  @Test("work that does not grow gives what it gives, and its error is its own")
  func stays() async throws {
    #expect(try await within(growth: 1 << 30, orThrow: TooMuch()) { 7 } == 7)
    await #expect(throws: CancellationError.self) {
      try await within(growth: 1 << 30, orThrow: TooMuch()) { throw CancellationError() }
    }
  }

  @Test("the resident memory of this process is known")
  func resident() throws {
    #expect(try #require(ProcessMemory.residentBytes) > 1 << 20)
  }
}
