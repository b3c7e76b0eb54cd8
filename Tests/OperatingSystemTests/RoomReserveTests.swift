import Foundation
import TestSupport
import Testing

@testable import OperatingSystem

@Suite("Room that is kept on a disk")
struct RoomReserveTests {
  @Test("a whole reserve is given back in parts, and then nothing is left")
  func parts() throws {
    let directory = try TemporaryDirectory()
    let reserve = RoomReserve(directory: directory.path)
    #expect(!reserve.release())
    reserve.fill(from: 1 << 30)
    #expect(try blocks(directory) >= RoomReserve.bytes / 512)
    var parts = 0
    while reserve.release() { parts += 1 }
    #expect(parts == RoomReserve.bytes / RoomReserve.part)
    #expect(try blocks(directory) == 0)
    reserve.fill(from: 1 << 30)
    #expect(try blocks(directory) >= RoomReserve.bytes / 512)
  }

  @Test("a disk with little room is left what it has, and a link is not followed")
  func refusals() throws {
    let directory = try TemporaryDirectory()
    let reserve = RoomReserve(directory: directory.path)
    reserve.fill(from: UInt64(RoomReserve.bytes) * 15)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    let other = directory.path("other")
    try Data(count: 10).write(to: URL(fileURLWithPath: other))
    try FileManager.default.createSymbolicLink(atPath: directory.path("room.reserve"), withDestinationPath: other)
    reserve.fill(from: 1 << 30)
    #expect(!reserve.release())
    #expect(try Data(contentsOf: URL(fileURLWithPath: other)).count == 10)
  }

  /// Of 512 bytes each.
  private func blocks(_ directory: TemporaryDirectory) throws -> Int {
    var status = stat()
    guard stat(directory.path("room.reserve"), &status) == 0 else { throw SystemError("stat", directory.path) }
    return Int(status.st_blocks)
  }
}
