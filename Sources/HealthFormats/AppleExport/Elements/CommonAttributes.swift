/// The attributes that most elements share, still as bytes in the scanner's buffer.
struct CommonAttributes {
  var type: Bytes?
  var source: Bytes?
  var version: Bytes?
  var device: Bytes?
  var created: Bytes?
  var start: Bytes?
  var end: Bytes?
  var value: Bytes?
  var unit: Bytes?
  /// The indices of all other attributes.
  var others: [Int] = []
  /// The number of attributes that occurred more than once. The first occurrence counts.
  var duplicates = 0

  init(_ scanner: borrowing XMLScanner) {
    for index in 0..<scanner.attributeCount {
      let attribute = scanner.attribute(index)
      let name = attribute.name
      switch name.count {
      case 4 where name == "type": duplicates += Self.set(&type, attribute)
      case 4 where name == "unit": duplicates += Self.set(&unit, attribute)
      case 5 where name == "value": duplicates += Self.set(&value, attribute)
      case 6 where name == "device": duplicates += Self.set(&device, attribute)
      case 7 where name == "endDate": duplicates += Self.set(&end, attribute)
      case 9 where name == "startDate": duplicates += Self.set(&start, attribute)
      case 10 where name == "sourceName": duplicates += Self.set(&source, attribute)
      case 12 where name == "creationDate": duplicates += Self.set(&created, attribute)
      case 13 where name == "sourceVersion": duplicates += Self.set(&version, attribute)
      default: others.append(index)
      }
    }
    // iOS 8 calls the attribute `source`.
    if source == nil, let position = others.firstIndex(where: { scanner.attribute($0).name == "source" }) {
      source = scanner.attribute(others.remove(at: position)).value
    }
  }

  private static func set(_ field: inout Bytes?, _ attribute: XMLScanner.Attribute) -> Int {
    guard field == nil else { return 1 }
    field = attribute.value
    return 0
  }
}
