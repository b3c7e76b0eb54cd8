import Foundation

/// A `Record` in the usual form, which nearly all of Apple's have: known attributes, each once, in double quotes and
/// after a single space, and only `MetadataEntry` elements inside.
///
/// All other forms are left to ``XMLScanner/next()``, which reads any form with the same result.
struct PlainRecord {
  var type: Bytes?
  var source: Bytes?
  var version: Bytes?
  var device: Bytes?
  var unit: Bytes?
  var created: Bytes?
  var start: Bytes?
  var end: Bytes?
  var value: Bytes?
  /// The bytes from the first `MetadataEntry` to the end of the last; `nil` if there is none.
  var metadata: Bytes?

  /// Reads a record.
  ///
  /// - Parameters:
  ///   - next: the position after `<Record`.
  ///   - limit: the end of the buffered input. Eight more bytes of any content must be readable.
  /// - Returns: the end of the element; `nil` if it has another form or is incomplete.
  mutating func read(_ next: UnsafePointer<UInt8>, limit: UnsafePointer<UInt8>) -> UnsafePointer<UInt8>? {
    self = PlainRecord()
    var next = next
    // The longest attribute name with its quote, and one more word, must be readable.
    while limit - next > 24, next.pointee == 0x20 {
      guard let end = readAttribute(next + 1, limit: limit) else { return nil }
      next = end
    }
    guard limit - next > 2 else { return nil }
    if next.pointee == 0x2F { return next[1] == 0x3E ? next + 2 : nil }
    return next.pointee == 0x3E ? readChildren(next + 1, limit: limit) : nil
  }

  private mutating func readAttribute(
    _ name: UnsafePointer<UInt8>, limit: UnsafePointer<UInt8>
  ) -> UnsafePointer<UInt8>? {
    let head = Words.eight(name)
    switch head & 0xFF {
    case 0x73:  // s
      if head == Words.startDate, Words.eight(name + 3) == Words.startDateRest {
        return Self.take(&start, name + 11, limit)
      }
      if head == Words.sourceName, Words.eight(name + 4) == Words.sourceNameRest {
        return Self.take(&source, name + 12, limit)
      }
      if head == Words.sourceVersion, Words.eight(name + 7) == Words.sourceVersionRest {
        return Self.take(&version, name + 15, limit)
      }
    case 0x65:  // e
      if head == Words.endDate, name[8] == 0x22 { return Self.take(&end, name + 9, limit) }
    case 0x63:  // c
      if head == Words.creationDate, Words.eight(name + 6) == Words.creationDateRest {
        return Self.take(&created, name + 14, limit)
      }
    case 0x74:  // t
      if head & Words.sixBytes == Words.type { return Self.take(&type, name + 6, limit) }
    case 0x76:  // v
      if head & Words.sevenBytes == Words.value { return Self.take(&value, name + 7, limit) }
    case 0x75:  // u
      if head & Words.sixBytes == Words.unit { return Self.take(&unit, name + 6, limit) }
    case 0x64:  // d
      if head == Words.device { return Self.take(&device, name + 8, limit, isLong: true) }
    default: break
    }
    return nil
  }

  /// Sets `field` to the value that ends at the next quote.
  ///
  /// - Returns: the position after the closing quote; `nil` if the field is already set or the value does not end.
  @inline(__always)
  private static func take(
    _ field: inout Bytes?, _ value: UnsafePointer<UInt8>, _ limit: UnsafePointer<UInt8>, isLong: Bool = false
  ) -> UnsafePointer<UInt8>? {
    guard field == nil, let quote = isLong ? Words.quoteFarOff(value, limit) : Words.quote(value, limit) else {
      return nil
    }
    field = Bytes(value, quote - value)
    return quote + 1
  }

  private mutating func readChildren(
    _ next: UnsafePointer<UInt8>, limit: UnsafePointer<UInt8>
  ) -> UnsafePointer<UInt8>? {
    var next = next
    var first: UnsafePointer<UInt8>?
    var last = next
    while true {
      while next < limit, next.pointee <= 0x20 { next += 1 }
      guard limit - next > 9 else { return nil }
      if let entry = PlainMetadataEntry(next, limit: limit) {
        first = first ?? next
        next = entry.next
        last = next
      } else if Words.eight(next) == Words.recordEnd, next[8] == 0x3E {
        if let first { metadata = Bytes(first, last - first) }
        return next + 9
      } else {
        return nil
      }
    }
  }
}

/// A `MetadataEntry` in Apple's usual form.
struct PlainMetadataEntry {
  var key: Bytes
  var value: Bytes
  /// The position after the element.
  var next: UnsafePointer<UInt8>

  init?(_ start: UnsafePointer<UInt8>, limit: UnsafePointer<UInt8>) {
    guard limit - start > 34, Bytes(start, 20) == "<MetadataEntry key=\"",
      let keyEnd = Words.quoteFarOff(start + 20, limit), limit - keyEnd > 12, Bytes(keyEnd, 9) == "\" value=\"",
      let valueEnd = Words.quoteFarOff(keyEnd + 9, limit), limit - valueEnd > 3, valueEnd[1] == 0x2F,
      valueEnd[2] == 0x3E
    else { return nil }
    key = Bytes(start + 20, keyEnd - start - 20)
    value = Bytes(keyEnd + 9, valueEnd - keyEnd - 9)
    next = valueEnd + 3
  }
}

extension XMLScanner {
  /// Reads a record in the usual form at the current position, without moving the position.
  ///
  /// - Returns: the position after the record; `nil` if the input is something else, or not completely in the buffer.
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
