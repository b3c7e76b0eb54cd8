import Foundation

/// A type with byte-for-byte equality, like SQLite's. Swift's `==` treats two spellings of `é` (U+00E9, and `e` with
/// U+0301) as equal, but the store must return text exactly as it was written.
public protocol ExactlyComparable {
  /// Returns whether both values have the same bytes, which implies `==`.
  func isExactly(_ other: Self) -> Bool
}

extension String: ExactlyComparable {
  public func isExactly(_ other: String) -> Bool {
    let count = utf8.count
    guard count == other.utf8.count else { return false }
    return utf8.withContiguousStorageIfAvailable { mine in
      other.utf8.withContiguousStorageIfAvailable { theirs in
        guard let mine = mine.baseAddress, let theirs = theirs.baseAddress else { return count == 0 }
        return memcmp(mine, theirs, count) == 0
      }
    }.flatMap(\.self) ?? utf8.elementsEqual(other.utf8)
  }
}

extension Optional: ExactlyComparable where Wrapped: ExactlyComparable {
  public func isExactly(_ other: Wrapped?) -> Bool {
    switch (self, other) {
    case (nil, nil): true
    case (let mine?, let theirs?): mine.isExactly(theirs)
    default: false
    }
  }
}

extension SampleType: ExactlyComparable {
  public func isExactly(_ other: SampleType) -> Bool { rawValue.isExactly(other.rawValue) }
}

extension Source: ExactlyComparable {
  public func isExactly(_ other: Source) -> Bool {
    name.isExactly(other.name) && bundleIdentifier.isExactly(other.bundleIdentifier) && version.isExactly(other.version)
  }
}

extension Device: ExactlyComparable {
  public func isExactly(_ other: Device) -> Bool {
    name.isExactly(other.name) && manufacturer.isExactly(other.manufacturer) && model.isExactly(other.model)
      && hardwareVersion.isExactly(other.hardwareVersion) && firmwareVersion.isExactly(other.firmwareVersion)
      && softwareVersion.isExactly(other.softwareVersion) && localIdentifier.isExactly(other.localIdentifier)
      && udiDeviceIdentifier.isExactly(other.udiDeviceIdentifier) && text.isExactly(other.text)
  }
}
