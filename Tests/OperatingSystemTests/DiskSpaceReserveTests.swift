import Foundation
import TestSupport
import Testing

@testable import OperatingSystem

@Suite("Room that is kept on a disk")
struct DiskSpaceReserveTests {
  @Test("a whole reserve is given back in parts, and then nothing is left")
  func parts() async throws {
    let directory = try TemporaryDirectory()
    let reserve = DiskSpaceReserve(directory: directory.path)
    #expect(await attempts(reserve) == 1)
    reserve.fill(from: 1 << 30)
    #expect(try blocks(directory) >= DiskSpaceReserve.bytes / 512)
    // Once more before the first part: another process may have given room back.
    #expect(await attempts(reserve) == 2 + DiskSpaceReserve.bytes / DiskSpaceReserve.part)
    #expect(try blocks(directory) == 0)
    reserve.fill(from: 1 << 30)
    #expect(try blocks(directory) >= DiskSpaceReserve.bytes / 512)
  }

  @Test("what is kept for more important writes is given to them only")
  func kept() async throws {
    let directory = try TemporaryDirectory()
    let (reserve, kept) = (DiskSpaceReserve(directory: directory.path), 3 * DiskSpaceReserve.part / 2)
    reserve.fill(from: 1 << 30)
    for _ in 0..<3 { _ = await attempts(reserve, keeping: kept) }
    #expect(try blocks(directory) == kept / 512)
    #expect(await attempts(reserve) == 2 + 2)
    #expect(try blocks(directory) == 0)
  }

  @Test("of two that want room at once, the second tries what the first gave back")
  func two() throws {
    let directory = try TemporaryDirectory()
    let (first, second) = (DiskSpaceReserve(directory: directory.path), DiskSpaceReserve(directory: directory.path))
    first.fill(from: 1 << 30)
    let (whole, less) = (DiskSpaceReserve.bytes, DiskSpaceReserve.bytes - DiskSpaceReserve.part)
    #expect(first.release(seen: nil, keeping: 0) == whole)
    #expect(second.release(seen: nil, keeping: 0) == whole)
    #expect(first.release(seen: whole, keeping: 0) == less)
    #expect(second.release(seen: whole, keeping: 0) == less)
    #expect(second.release(seen: less, keeping: 0) == less - DiskSpaceReserve.part)
  }

  @Test("a disk with little room is left what it has, and a link is not followed")
  func refusals() async throws {
    let directory = try TemporaryDirectory()
    let reserve = DiskSpaceReserve(directory: directory.path)
    reserve.fill(from: UInt64(DiskSpaceReserve.bytes) * 15)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    let other = directory.path("other")
    try Data(count: 10).write(to: URL(fileURLWithPath: other))
    try FileManager.default.createSymbolicLink(atPath: directory.path("room.reserve"), withDestinationPath: other)
    reserve.fill(from: 1 << 30)
    #expect(await attempts(reserve) == 1)
    #expect(try Data(contentsOf: URL(fileURLWithPath: other)).count == 10)
  }

  /// Returns the number of attempts of work that always runs out of space.
  private func attempts(_ reserve: DiskSpaceReserve, keeping kept: Int = 0) async -> Int {
    struct Full: Error {}
    var attempts = 0
    try? await reserve.released(keeping: kept, where: { (_: Full) in true }) { () throws(Full) in
      attempts += 1
      throw Full()
    }
    return attempts
  }

  /// Returns the size of the reserve, in blocks of 512 bytes.
  private func blocks(_ directory: TemporaryDirectory) throws -> Int {
    var status = stat()
    guard stat(directory.path("room.reserve"), &status) == 0 else { throw SystemError("stat", directory.path) }
    return Int(status.st_blocks)
  }
}
