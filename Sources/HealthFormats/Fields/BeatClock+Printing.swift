import HealthModel

extension BeatClock {
  /// `bpm@time;…` with the times of the clock on the wall, in the form of ``format``.
  ///
  /// - Parameter start: of the record.
  /// - Returns: `nil` where the beats or the format cannot be read.
  func printed(start: Timestamp) -> String? {
    // The offset is of the sample's metadata, which may say anything; no clock is further from UTC than a day.
    guard let style = WallClockStyle(format), abs(Double(offset)) <= 86_400 else { return nil }
    var result: [UInt8] = []
    for beat in beats.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
      let parts = beat.split(separator: UInt8(ascii: "@"), maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let seconds = Double(Substring(parts[1])), abs(seconds) < 0x1p32 else { return nil }
      let shift = Int64((seconds * 1_000_000).rounded()) + Int64(offset) * 1_000_000
      let (instant, overflow) = start.microseconds.addingReportingOverflow(shift)
      if overflow { return nil }
      if !result.isEmpty { result.append(UInt8(ascii: ";")) }
      result.append(contentsOf: parts[0])
      result.append(UInt8(ascii: "@"))
      style.append(instant.modulo(Self.day), to: &result)
    }
    return String(decoding: result, as: UTF8.self)
  }
}
