import Foundation
import HealthModel

/// An encoder that encodes records in the usual form directly from their bytes.
///
/// Records that need a remark, records without a final identity, and rare forms are left to ``SampleReader``, which
/// gives the same result by way of a ``Sample``.
struct PlainRecordCoder: ~Copyable {
  /// The maximum size of a plain record in bytes. Other machines may reject a larger record.
  private static let rarelyLong = 64 << 10

  private var record = PlainRecord()
  private var types = ByteInterner<PlainType>()
  private var typeTexts: [String] = []
  private var counts: [Int] = []
  private var sources = PlainSources()
  private var devices = ByteInterner<UInt32?>()
  private var units = ByteInterner<UInt32>()
  private var categories = PlainCategories()
  private var metadata = PlainMetadata()
  private var uuids = RecordIdentities()
  private var kinds = (quantity: UInt32(0), category: UInt32(0))
  /// The generation of the coder whose indices are in the tables.
  private var generation = -1
  private var total: [String: Int] = [:]

  /// Encodes the record at the scanner's position.
  ///
  /// - Returns: the position after the record; `nil` if ``XMLScanner/next()`` has to read it.
  mutating func next(
    _ scanner: borrowing XMLScanner, _ dates: inout DateReader, _ coder: inout BatchCoder,
    _ identities: borrowing ExportIdentities
  ) -> Int? {
    guard let next = scanner.plainRecord(&record), next - scanner.position < Self.rarelyLong,
      let typeBytes = record.type, let sourceBytes = record.source,
      let startBytes = record.start, let start = dates.plain(startBytes), let endBytes = record.end,
      let end = dates.plain(endBytes)
    else { return nil }
    var created: Timestamp?
    if let bytes = record.created {
      guard let date = dates.plain(bytes) else { return nil }
      created = date
    }
    if coder.generation != generation { startOver(with: &coder) }
    guard let type = types.find(typeBytes) ?? addType(typeBytes, &coder), type.form != .other else { return nil }
    let hash = KeyReader.hash(kind: ElementKind.record.hash, type: type.hash, start: start, end: end, created: created)
    if identities.isShared(hash) { return nil }
    guard let source = sources.index(name: sourceBytes, version: record.version, &coder, identities) else { return nil }
    var sample = CodedSample(
      uuid: .undecided, start: start, end: end, created: created, type: type.index, kind: kinds.quantity,
      source: source.index, device: nil, metadata: nil, number: nil, unit: nil, payload: nil)
    guard read(type, into: &sample, &coder) else { return nil }
    if let bytes = record.device {
      let bytes = DeviceText.withoutAddress(bytes)
      guard let device = devices.find(bytes) ?? addDevice(bytes, &coder) else { return nil }
      sample.device = device
    }
    if let bytes = record.metadata {
      guard let index = metadata.index(of: bytes, &coder) else { return nil }
      sample.metadata = index
    }
    if !uuids.continues(type: type.number, source: source.number) {
      uuids.begin(type: type.number, source: source.number, typeTexts, sources.identityNames)
    }
    sample.uuid = uuids.uuid(start: start, end: end, created: created)
    coder.samples.append(sample)
    counts[type.number] += 1
    return next
  }

  /// The number of encoded records, by type.
  var records: [String: Int] {
    var result = total
    for (type, count) in zip(typeTexts, counts) where count > 0 { result[type, default: 0] += count }
    return result
  }

  // MARK: The value

  private mutating func read(_ type: PlainType, into sample: inout CodedSample, _ coder: inout BatchCoder) -> Bool {
    if type.form == .quantity {
      guard let value = record.value, let number = DecimalReader.read(value), !number.hasComma,
        let unitBytes = record.unit, let unit = units.find(unitBytes) ?? addUnit(unitBytes, &coder)
      else { return false }
      sample.number = number.value
      sample.unit = unit
      return true
    }
    guard record.unit == nil else { return false }
    sample.kind = kinds.category
    guard let value = record.value else { return true }
    guard let category = categories.category(value, type: type.number, typeTexts) else { return false }
    sample.number = category.number
    if let json = category.json {
      sample.payload = coder.append(payload: .text(json))
    }
    return true
  }

  // MARK: Tables

  /// Resets the tables for a coder whose dictionaries have been reset.
  private mutating func startOver(with coder: inout BatchCoder) {
    total = records
    types.removeAll()
    typeTexts = []
    counts = []
    devices.removeAll()
    units.removeAll()
    categories = PlainCategories()
    uuids = RecordIdentities()
    sources = PlainSources()
    kinds = (coder.kinds.index(of: "quantity"), coder.kinds.index(of: "category"))
    generation = coder.generation
  }

  private mutating func addType(_ bytes: Bytes, _ coder: inout BatchCoder) -> PlainType? {
    guard bytes.isInternable else { return nil }
    let text = InternedText(bytes)
    guard text.defects.isEmpty else { return nil }
    let form: PlainType.Form =
      bytes.hasPrefix("HKQuantityType") ? .quantity : bytes.hasPrefix("HKCategoryType") ? .category : .other
    let entry = PlainType(
      index: coder.types.index(of: SampleType(text.text)), number: typeTexts.count, hash: text.hash, form: form)
    typeTexts.append(text.text)
    counts.append(0)
    types.insert(bytes, entry)
    return entry
  }

  private mutating func addDevice(_ bytes: Bytes, _ coder: inout BatchCoder) -> UInt32?? {
    var defects: TextDefects = []
    let device = DeviceText.parse(XMLText.decode(bytes, defects: &defects))
    guard defects.isEmpty else { return nil }
    let index = device.map { coder.devices.index(of: $0) }
    devices.insert(bytes, index)
    return .some(index)
  }

  private mutating func addUnit(_ bytes: Bytes, _ coder: inout BatchCoder) -> UInt32? {
    let text = InternedText(bytes)
    guard text.defects.isEmpty else { return nil }
    let index = coder.units.index(of: text.text)
    units.insert(bytes, index)
    return index
  }
}

/// The properties of a record type.
struct PlainType {
  enum Form { case quantity, category, other }

  /// The index in the coder's dictionary of types.
  var index: UInt32
  /// The number among the types of plain records.
  var number: Int
  /// The hash of the type's text.
  var hash: UInt64
  var form: Form
}
