import HealthModel

/// A table of the values of category records, so that each is looked up once for its type.
struct PlainCategories: ~Copyable {
  struct Value {
    var number: Double?
    var json: String?
  }

  private static let longest = 512

  /// The values by key: the number of the type in eight bytes, and the value's text.
  private var values = ByteInterner<Value>()
  private let key = UnsafeMutablePointer<UInt8>.allocate(capacity: Self.longest + 8)

  deinit { key.deallocate() }

  /// Returns the category value of a record.
  ///
  /// - Returns: `nil` for a text that needs a remark.
  mutating func category(_ bytes: Bytes, type: Int, _ types: [String]) -> Value? {
    guard bytes.count <= Self.longest else { return nil }
    UnsafeMutableRawPointer(key).storeBytes(of: type, as: Int.self)
    (key + 8).update(from: bytes.start, count: bytes.count)
    let whole = Bytes(key, bytes.count + 8)
    if let known = values.find(whole) { return known }
    var defects: TextDefects = []
    let text = XMLText.decode(bytes, defects: &defects)
    let category = CategoryValueNames.healthKit.value(exported: text, type: SampleType(types[type]))
    // Every category value can be written as JSON.
    guard defects.isEmpty, let payload = try? CodedPayload(.category(category)) else { return nil }
    let value = Value(number: payload.number, json: payload.json)
    values.insert(whole, value)
    return value
  }
}
