import Foundation
import TestSupport
import Testing

@testable import OperatingSystem

@Suite("The system's journal", .timeLimit(.minutes(5)))
struct SystemJournalTests {
  @Test("an entry is what the native protocol says, whatever is in its values")
  func encoding() throws {
    let entry = JournalEntry(
      "one\ntwo=2\n", priority: 4, program: "hpeer",
      fields: [
        "peer": "A\nPRIORITY=0\n", "hb.request-id": "=", "empty": "", "zürich": "\u{0}é",
        String(repeating: "x", count: 100): "cut",
      ])
    #expect(
      try JournalDatagram.fields(entry.datagram) == [
        "MESSAGE": "one\ntwo=2\n", "PRIORITY": "4", "SYSLOG_IDENTIFIER": "hpeer", "HPEER_PEER": "A\nPRIORITY=0\n",
        "HPEER_HB_REQUEST_ID": "=", "HPEER_EMPTY": "", "HPEER_Z_RICH": "\u{0}é",
        "HPEER_" + String(repeating: "X", count: 58): "cut",
      ])
    // A value without a line feed is a line, and one with them has its length before it.
    let datagram = JournalEntry("a\nb", priority: 6, program: "p").datagram
    #expect(
      datagram == Array("MESSAGE\n\u{3}\0\0\0\0\0\0\0a\nb\nPRIORITY=6\nSYSLOG_IDENTIFIER=p\n".utf8))
  }

  @Test("takes entries at the socket beside the one that a stream leads to")
  func writing() async throws {
    let directory = try TemporaryDirectory()
    let standIn = try JournalStandIn(in: directory)
    let stream = try standIn.connected()
    defer { close(stream) }
    let journal = try #require(SystemJournal(behind: stream))
    #expect(journal.write(JournalEntry("lost", priority: 4, program: "hpeer", fields: ["peer": "studio"])))
    while try standIn.entries().isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    #expect(
      try standIn.entries() == [
        ["MESSAGE": "lost", "PRIORITY": "4", "SYSLOG_IDENTIFIER": "hpeer", "HPEER_PEER": "studio"]
      ])
  }

  @Test("says so at once where it takes no entry: it is gone, full, or the entry is too large")
  func refusing() throws {
    let directory = try TemporaryDirectory()
    let standIn = try JournalStandIn(in: directory, takesEntries: false)
    let stream = try standIn.connected()
    defer { close(stream) }
    let journal = try #require(SystemJournal(behind: stream))
    let entry = JournalEntry("lost", priority: 4, program: "hpeer")
    #expect(!journal.write(entry))
    let unread = try DatagramSocket.bound(directory.path("socket"), SOCK_DGRAM)
    defer { close(unread) }
    let large = JournalEntry(String(repeating: "x", count: 8 << 20), priority: 4, program: "hpeer")
    #expect(!journal.write(large))
    #expect(journal.write(entry))
    // More than any system lets wait at a socket.
    let taken = (0..<1_000_000).first { _ in !journal.write(entry) }
    #expect(taken != nil)
  }

  @Test("is behind no stream that leads elsewhere")
  func elsewhere() throws {
    let directory = try TemporaryDirectory()
    let (path, other) = (directory.path("file"), directory.path("other"))
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    #expect(SystemJournal(behind: file) == nil)
    #expect(SystemJournal(behind: -1) == nil)
    let unconnected = try DatagramSocket.bound(other, SOCK_STREAM)
    defer { close(unconnected) }
    #expect(SystemJournal(behind: unconnected) == nil)
  }
}
