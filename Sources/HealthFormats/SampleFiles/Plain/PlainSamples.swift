import Foundation
import HealthModel

/// Encodes quantities and categories directly from the bytes that ``SampleJSONWriter`` and ``SampleCSVWriter`` write.
///
/// Samples in any other form, and invalid ones, are left to the decoder of ``Sample``, which gives the same results
/// and reports errors.
struct PlainSamples: ~Copyable {
  private var texts = PlainTexts()

  private enum Measured {
    case quantity(Double?, UInt32?)
    case category(Double?)
  }

  private func sample(
    _ uuid: UUID, _ type: UInt32, from start: Timestamp, to end: Timestamp, created: Timestamp?, _ source: UInt32,
    _ device: UInt32?, _ metadata: UInt32?, _ measured: Measured
  ) -> CodedSample {
    let (kind, number, unit) =
      switch measured {
      case .quantity(let number, let unit): (texts.quantity, number, unit)
      case .category(let number): (texts.category, number, nil)
      }
    return CodedSample(
      uuid: uuid, start: start, end: end, created: created, type: type, kind: kind, source: source, device: device,
      metadata: metadata, number: number, unit: unit, payload: nil)
  }

  // MARK: JSON

  /// Encodes a JSON object whose members are sorted by name, without white space.
  ///
  /// - Returns: false, and no sample is added, if the object has any other form.
  mutating func add(json bytes: Bytes, to coder: inout BatchCoder) -> Bool {
    texts.begin(&coder)
    var cursor = PlainCursor(bytes)
    var (created, device, metadata): (Timestamp?, UInt32?, UInt32?)
    guard cursor.take(UInt8(ascii: "{")) else { return false }
    if cursor.take("\"created\":\"") {
      created = cursor.instant()
      guard created != nil, cursor.take("\",") else { return false }
    }
    if cursor.take("\"device\":") {
      device = texts.device(&cursor, &coder)
      guard device != nil, cursor.take(UInt8(ascii: ",")) else { return false }
    }
    guard cursor.take("\"end\":\""), let end = cursor.instant(), cursor.take("\",\"kind\":\"") else { return false }
    let isQuantity = cursor.take("quantity\",")
    guard isQuantity || cursor.take("category\",") else { return false }
    if cursor.take("\"metadata\":") {
      metadata = texts.metadata(&cursor, &coder)
      guard metadata != nil, cursor.take(UInt8(ascii: ",")) else { return false }
    }
    var (number, unit): (Double?, UInt32?)
    if isQuantity {
      guard cursor.take("\"payload\":{\"unit\":") else { return false }
      unit = texts.unit(&cursor, &coder)
      guard unit != nil, cursor.take(",\"value\":") else { return false }
      number = cursor.number()
      guard number != nil else { return false }
    } else {
      guard cursor.take("\"payload\":{") else { return false }
      if cursor.take("\"value\":") {
        number = cursor.integer().map(Double.init)
        guard number != nil else { return false }
      }
    }
    guard cursor.take("},\"source\":"), let source = texts.source(&cursor, &coder), cursor.take(",\"start\":\""),
      let start = cursor.instant(), cursor.take("\",\"type\":"), let type = texts.type(&cursor, &coder),
      cursor.take(",\"uuid\":\""), let uuid = cursor.uuid(), cursor.take("\"}"), cursor.isAtEnd
    else { return false }
    coder.samples.append(
      sample(
        uuid, type, from: start, to: end, created: created, source, device, metadata,
        isQuantity ? .quantity(number, unit) : .category(number)))
    return true
  }

  // MARK: CSV

  /// Encodes the row at the beginning of `bytes`, which must have exactly the columns of ``SampleCSV`` in order.
  ///
  /// - Returns: the length of the row including its line end, or `nil` if no sample was added.
  mutating func add(row bytes: Bytes, to coder: inout BatchCoder) -> Int? {
    texts.begin(&coder)
    let comma = UInt8(ascii: ",")
    var cursor = PlainCursor(bytes)
    guard let uuid = cursor.uuid(), cursor.take(comma), let type = texts.typeField(&cursor, &coder),
      let start = cursor.instant(), cursor.take(comma), let end = cursor.instant(), cursor.take(comma)
    else { return nil }
    var (created, number, unit): (Timestamp?, Double?, UInt32?)
    if !cursor.take(comma) {
      created = cursor.instant()
      guard created != nil, cursor.take(comma) else { return nil }
    }
    let isQuantity = !cursor.take(comma)
    if isQuantity {
      number = cursor.number()
      guard number != nil, cursor.take(comma) else { return nil }
      unit = texts.unitField(&cursor, &coder)
      guard unit != nil, cursor.take(comma) else { return nil }
    } else {
      guard cursor.take(comma) else { return nil }
      if !cursor.take(comma) {
        number = cursor.integer().map(Double.init)
        guard number != nil, cursor.take(comma) else { return nil }
      }
    }
    // The name of a category's integer is for people only.
    guard cursor.field().flatMap(PlainField.init) != nil else { return nil }
    guard let source = texts.sourceFields(&cursor, &coder) else { return nil }
    var (device, metadata): (UInt32?, UInt32?)
    if !cursor.take(comma) {
      device = texts.deviceField(&cursor, &coder)
      if device == nil { return nil }
    }
    if !cursor.take(comma) {
      metadata = texts.metadataField(&cursor, &coder)
      if metadata == nil { return nil }
    }
    guard isQuantity ? cursor.take("quantity,") : cursor.take("category,"),
      cursor.take("\r\n") || cursor.take(UInt8(ascii: "\n"))
    else { return nil }
    coder.samples.append(
      sample(
        uuid, type, from: start, to: end, created: created, source, device, metadata,
        isQuantity ? .quantity(number, unit) : .category(number)))
    return cursor.next - bytes.start
  }
}
