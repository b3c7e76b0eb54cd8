import Foundation
import Testing

@testable import Terminal

@Suite struct JournalStreamTests {
  @Test("only the file that is spoken of is the journal")
  func stream() throws {
    let path = NSTemporaryDirectory() + "hpeer-journal-\(UUID().uuidString)"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer {
      close(descriptor)
      unlink(path)
    }
    var status = stat()
    try #require(fstat(descriptor, &status) == 0)
    let (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    #expect(JournalStream.leads(from: descriptor, ["JOURNAL_STREAM": "\(device):\(inode)"]))
    for text in [
      "", ":", "\(device)", "\(device):\(inode + 1)", "\(device + 1):\(inode)", "\(device):\(inode):1", "-1:x",
    ] {
      #expect(!JournalStream.leads(from: descriptor, ["JOURNAL_STREAM": text]), "\(text)")
    }
    #expect(!JournalStream.leads(from: descriptor, [:]))
    #expect(!JournalStream.leads(from: -1, ["JOURNAL_STREAM": "\(device):\(inode)"]))
  }

  @Test("every line of a text is an entry with its priority")
  func entries() {
    #expect(JournalStream.entries("one", .error) == "<3>one")
    #expect(JournalStream.entries("one\ntwo", .information) == "<6>one\n<6>two")
  }
}
