extension XMLScanner {
  /// Looks for a record in its usual form at the current position, and moves nowhere.
  ///
  /// - Returns: the position after the record; `nil` when there is something else, or not all of it in the buffer.
  func plainRecord(_ record: inout PlainRecord) -> Int? {
    let limit = UnsafePointer(buffer + filled)
    var next = UnsafePointer(buffer + position)
    while next < limit, next.pointee <= 0x20 { next += 1 }
    guard limit - next > 32, Words.eight(next) == Words.recordStart,
      let end = record.read(next + 7, limit: limit)
    else { return nil }
    return end - UnsafePointer(buffer)
  }
}
