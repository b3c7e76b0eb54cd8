import HealthModel

/// Writes samples of those types that a format has a place for.
public protocol SelectiveFileWriter {
  /// What comes before the first sample.
  mutating func begin(into bytes: inout [UInt8])
  /// Samples of one type come one after the other.
  ///
  /// - Parameter members: those of a correlation; of others, none.
  /// - Returns: false where the format has no place for the sample, and then nothing is written.
  mutating func append(_ sample: Sample, members: [Sample], to bytes: inout [UInt8]) -> Bool
  /// What comes after the last sample.
  mutating func end(into bytes: inout [UInt8])
}
