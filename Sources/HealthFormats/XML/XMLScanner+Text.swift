extension XMLScanner {
  /// The text between the tag that was read last and the next one, as it is written; `nil` where it is longer than
  /// `limit` or the source ends before. Valid until the next call.
  mutating func text(limit: Int) throws(ImportError) -> Bytes? {
    while true {
      if let end = Bytes(buffer + position, filled - position).firstIndex(of: UInt8(ascii: "<")) {
        let text = Bytes(buffer + position, end)
        position += end
        return end <= limit ? text : nil
      }
      // What is left of it is passed over as text between tags.
      if filled - position > limit { return nil }
      if try !refill(keeping: position) { return nil }
    }
  }
}
