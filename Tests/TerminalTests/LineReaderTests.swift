import Glibc
import Testing

@testable import Terminal

@Suite(.timeLimit(.minutes(5))) struct LineReaderTests {
  /// A blocking pipe, like those of a shell.
  private struct Input: ~Copyable {
    let readEnd: Int32
    var writeEnd: Int32

    init() throws {
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      (readEnd, writeEnd) = (ends[0], ends[1])
    }

    func send(_ text: String) throws {
      try OutputWriter(descriptor: writeEnd).write(text)
    }

    mutating func end() {
      close(writeEnd)
      writeEnd = -1
    }

    deinit {
      close(readEnd)
      if writeEnd >= 0 { close(writeEnd) }
    }
  }

  @Test func linesComeOneByOneUntilTheEnd() async throws {
    var input = try Input()
    try input.send("n\r\n\nlast one")
    input.end()
    var lines: [String] = []
    for await line in LineReader(descriptor: input.readEnd) { lines.append(line) }
    #expect(lines == ["n", "", "last one"])
  }

  @Test func aLineIsDeliveredBeforeTheNextIsThere() async throws {
    let input = try Input()
    var iterator = LineReader(descriptor: input.readEnd).makeAsyncIterator()
    try input.send("first\nsec")
    #expect(await iterator.next() == "first")
    try input.send("ond\n")
    #expect(await iterator.next() == "second")
  }

  @Test func theEndStaysTheEnd() async throws {
    var input = try Input()
    input.end()
    var iterator = LineReader(descriptor: input.readEnd).makeAsyncIterator()
    #expect(await iterator.next() == nil)
    #expect(await iterator.next() == nil)
  }

  @Test func cancellingEndsAWaitThatNothingElseWouldEnd() async throws {
    let pseudo = try PseudoTerminal()
    let (started, start) = AsyncStream.makeStream(of: String.self)
    let reading = Task {
      var count = 0
      for await line in LineReader(descriptor: pseudo.terminal) {
        count += 1
        start.yield(line)
      }
      return count
    }
    try pseudo.type("n\n")
    #expect(await started.first { _ in true } == "n")
    reading.cancel()
    #expect(await reading.value == 1)
  }

  @Test func aTerminalEndsWithControlD() async throws {
    let pseudo = try PseudoTerminal()
    try pseudo.type("n\n\u{4}")
    var lines: [String] = []
    for await line in LineReader(descriptor: pseudo.terminal) { lines.append(line) }
    #expect(lines == ["n"])
  }

  @Test func aClosedDescriptorHasNoLines() async throws {
    // A number no process has open.
    var iterator = LineReader(descriptor: 1_000_000).makeAsyncIterator()
    #expect(await iterator.next() == nil)
  }

  @Test func endlessLinesAreCut() {
    var buffer = LineBuffer(limit: 4)
    buffer.append("abcdefgh\nij\n".utf8)
    #expect(buffer.takeLine() == "abcd")
    #expect(buffer.takeLine() == "ij")
    #expect(buffer.takeLine() == nil)
  }

  @Test func bytesThatAreNoTextAreReplaced() {
    var buffer = LineBuffer(limit: 10)
    buffer.append([0x61, 0xFF])
    buffer.finish()
    #expect(buffer.takeLine() == "a\u{FFFD}")
  }
}
