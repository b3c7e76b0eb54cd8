import Dispatch
import Glibc
import Testing

@testable import Terminal

@Suite(.timeLimit(.minutes(5))) struct OutputWriterTests {
  private func makePipe(nonBlocking: Bool = false) throws -> (readEnd: Int32, writeEnd: Int32) {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    if nonBlocking { _ = fcntl(ends[1], F_SETFL, O_NONBLOCK) }
    return (ends[0], ends[1])
  }

  /// Returns everything written until the writer closes its end.
  private func readAll(_ descriptor: Int32) async -> [UInt8] {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "reader").async {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(descriptor, &chunk, chunk.count), count > 0 { all += chunk[..<count] }
        continuation.resume(returning: all)
      }
    }
  }

  @Test(arguments: [false, true])
  func moreThanAPipeHoldsArrivesWhole(_ nonBlocking: Bool) async throws {
    let (readEnd, writeEnd) = try makePipe(nonBlocking: nonBlocking)
    defer { close(readEnd) }
    let text = (0..<100_000).map(String.init).joined(separator: "\n")
    let writing = Task.detached {
      await withCheckedContinuation { continuation in
        DispatchQueue(label: "writer").async {
          let result = Result { try OutputWriter(descriptor: writeEnd).writeLine(text) }
          close(writeEnd)
          continuation.resume(returning: result)
        }
      }
    }
    #expect(await readAll(readEnd) == Array((text + "\n").utf8))
    try await writing.value.get()
  }

  @Test func severalLinesAreWrittenAtOnce() async throws {
    let (readEnd, writeEnd) = try makePipe()
    defer { close(readEnd) }
    try OutputWriter(descriptor: writeEnd).writeLines(["a", "", "b"])
    close(writeEnd)
    #expect(await readAll(readEnd) == Array("a\n\nb\n".utf8))
  }

  @Test func aReaderThatHasGoneIsATypedError() throws {
    StandardStream.prepareAll()
    let (readEnd, writeEnd) = try makePipe()
    defer { close(writeEnd) }
    close(readEnd)
    #expect(throws: OutputError.readerGone) { try OutputWriter(descriptor: writeEnd).writeLine("x") }
  }

  @Test func aClosedStreamBecomesTheNullDevice() throws {
    // The last one there can be stands for 0, 1 and 2, which the test process needs; nobody else gets it.
    var limit = rlimit()
    try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
    let descriptor = Int32(clamping: min(limit.rlim_cur, 1 << 20)) - 1
    try #require(fcntl(descriptor, F_GETFD) < 0)
    StandardStream.openIfClosed(descriptor)
    defer { close(descriptor) }
    var byte: UInt8 = 0
    #expect(read(descriptor, &byte, 1) == 0)
    // What is written nowhere must not count as written.
    let error = #expect(throws: OutputError.self) { try OutputWriter(descriptor: descriptor).write("x") }
    #expect(error == .failed(code: EBADF))
    #expect(throws: OutputError.failed(code: EBADF)) { try OutputWriter(descriptor: descriptor).requireOpen() }
    #expect(throws: Never.self) { try OutputWriter.standardError.requireOpen() }
  }

  @Test func anOpenStreamIsLeftAlone() async throws {
    let (readEnd, writeEnd) = try makePipe()
    defer { close(readEnd) }
    StandardStream.openIfClosed(writeEnd)
    try OutputWriter(descriptor: writeEnd).write("x")
    close(writeEnd)
    #expect(await readAll(readEnd) == [UInt8(ascii: "x")])
  }

  @Test func aFullDiskIsATypedError() throws {
    let full = open("/dev/full", O_WRONLY)
    defer { close(full) }
    let error = #expect(throws: OutputError.self) { try OutputWriter(descriptor: full).writeLine("x") }
    #expect(error == .failed(code: ENOSPC))
    #expect(error?.description.contains("No space left on device") == true)
  }

  @Test func aFullPipeAcceptsNothing() throws {
    let (readEnd, writeEnd) = try makePipe(nonBlocking: true)
    defer {
      close(readEnd)
      close(writeEnd)
    }
    let output = OutputWriter(descriptor: writeEnd)
    #expect(output.acceptsOutput())
    let chunk = [UInt8](repeating: 0, count: 65_536)
    while write(writeEnd, chunk, chunk.count) > 0 {}
    #expect(!output.acceptsOutput())
  }
}
