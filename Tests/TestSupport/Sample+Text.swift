import Foundation
import HealthModel

extension Sample {
  /// Returns the sample as JSON with sorted keys, for comparisons byte by byte.
  ///
  /// `==` isn't enough: NaN doesn't equal itself, and two Unicode spellings of `é` compare as equal.
  public func text() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }
}
