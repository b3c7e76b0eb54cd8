import Foundation

/// A namespace for comparing eight bytes at a time, in memory order: the first byte is the lowest.
enum Words {
  @inline(__always)
  static func eight(_ bytes: UnsafePointer<UInt8>) -> UInt64 {
    UInt64(littleEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self))
  }

  /// Returns the position of the first `"` before `limit`. Eight bytes after `limit` must be readable. Fast for short
  /// texts.
  @inline(__always)
  static func quote(_ start: UnsafePointer<UInt8>, _ limit: UnsafePointer<UInt8>) -> UnsafePointer<UInt8>? {
    var next = start
    while next < limit {
      let other = eight(next) ^ 0x2222_2222_2222_2222
      // The lowest byte with its high bit set marks the first zero byte of `other`.
      let zeros = (other &- 0x0101_0101_0101_0101) & ~other & 0x8080_8080_8080_8080
      if zeros != 0 {
        next += zeros.trailingZeroBitCount / 8
        return next < limit ? next : nil
      }
      next += 8
    }
    return nil
  }

  /// Returns the position of the first `"` before `limit`. Fast for long texts.
  @inline(__always)
  static func quoteFarOff(_ start: UnsafePointer<UInt8>, _ limit: UnsafePointer<UInt8>) -> UnsafePointer<UInt8>? {
    guard start < limit, let found = memchr(start, 0x22, limit - start) else { return nil }
    return UnsafePointer(found.assumingMemoryBound(to: UInt8.self))
  }

  static let sixBytes: UInt64 = 0x0000_FFFF_FFFF_FFFF
  static let sevenBytes: UInt64 = 0x00FF_FFFF_FFFF_FFFF

  // These are literals because each of them is compared a million times.
  /// `type="`
  static let type: UInt64 = 0x0000_223D_6570_7974
  /// `unit="`
  static let unit: UInt64 = 0x0000_223D_7469_6E75
  /// `value="`
  static let value: UInt64 = 0x0022_3D65_756C_6176
  /// `device="`
  static let device: UInt64 = 0x223D_6563_6976_6564
  /// `endDate=`
  static let endDate: UInt64 = 0x3D65_7461_4464_6E65
  /// `startDat`
  static let startDate: UInt64 = 0x7461_4474_7261_7473
  /// `rtDate="`
  static let startDateRest: UInt64 = 0x223D_6574_6144_7472
  /// `sourceNa`
  static let sourceName: UInt64 = 0x614E_6563_7275_6F73
  /// `ceName="`
  static let sourceNameRest: UInt64 = 0x223D_656D_614E_6563
  /// `sourceVe`
  static let sourceVersion: UInt64 = 0x6556_6563_7275_6F73
  /// `ersion="`
  static let sourceVersionRest: UInt64 = 0x223D_6E6F_6973_7265
  /// `creation`
  static let creationDate: UInt64 = 0x6E6F_6974_6165_7263
  /// `onDate="`
  static let creationDateRest: UInt64 = 0x223D_6574_6144_6E6F
  /// `<Record `
  static let recordStart: UInt64 = 0x2064_726F_6365_523C
  /// `</Record`
  static let recordEnd: UInt64 = 0x6472_6F63_6552_2F3C
}
