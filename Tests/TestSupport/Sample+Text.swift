import Foundation
import HealthModel

extension Sample {
  /// The sample as JSON with sorted keys, for comparisons byte for byte.
  ///
  /// `==` does not do where a value may be NaN, and takes two spellings of `é` for one.
  public func text() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }
}
