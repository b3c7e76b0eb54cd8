import Foundation
import HealthModel

/// `Record` and `Correlation`.
extension SampleReader {
  mutating func beginRecord(isMember: Bool) -> ElementStack.Role {
    let attributes = CommonAttributes(scanner)
    guard var draft = draft(.record, attributes, called: "Record") else { return .ignored }
    readValue(attributes, of: &draft)
    for index in attributes.others {
      let attribute = scanner.attribute(index)
      let (name, value) = (texts.key(attribute.name).text, decoded(attribute.value))
      addUnknown(name, value, of: "Record", to: &draft.metadata)
    }
    if isMember { member = draft } else { current = draft }
    return isMember ? .member : .record
  }

  mutating func beginCorrelation() -> ElementStack.Role {
    let attributes = CommonAttributes(scanner)
    guard var draft = draft(.correlation, attributes, called: "Correlation") else { return .ignored }
    for index in attributes.others {
      let attribute = scanner.attribute(index)
      addUnknown(decoded(attribute.name), decoded(attribute.value), of: "Correlation", to: &draft.metadata)
    }
    for (name, bytes) in [("value", attributes.value), ("unit", attributes.unit)] {
      if let bytes { addUnknown(name, decoded(bytes), of: "Correlation", to: &draft.metadata) }
    }
    current = draft
    return .correlation
  }

  mutating func finishRecord() throws {
    guard var draft = current.take() else { return }
    complete(&draft)
    typeCounts.add(draft.sample.type.rawValue)
    let isSuspect = isSuspect(draft)
    try emit(draft.sample, kind: .record, isSuspect: isSuspect)
  }

  mutating func finishMember() {
    guard var draft = member.take() else { return }
    complete(&draft)
    report.nestedRecords[draft.sample.type.rawValue, default: 0] += 1
    current?.members.append(draft)
  }

  mutating func finishCorrelation() throws {
    guard var draft = current.take() else { return }
    complete(&draft)
    report.elements["Correlation", default: 0] += 1
    var members: [(sample: Sample, isKnown: Bool)] = []
    for member in draft.members {
      var sample = member.sample
      let isSuspect = isSuspect(member)
      if !isSuspect { sample.identify(as: .record, source: identityName(of: sample), ordinal: 0) }
      members.append((sample, !isSuspect))
    }
    let isSuspect = isSuspect(draft)
    try emit(correlation: draft.sample, isSuspect: isSuspect, members: members)
  }

  /// What records, correlations and workouts have in common; `nil`, and counted, for one without type or start.
  mutating func draft(_ kind: ElementKind, _ attributes: CommonAttributes, called element: String) -> Draft? {
    let key: KeyReader.Key
    do throws(KeyReader.Failure) {
      key = try keys.key(kind, attributes, in: scanner)
    } catch {
      switch error {
      case .noType: skip("\(element) without a type")
      case .noStart: skip("\(element) without a startDate")
      case .unreadableStart: skip("\(element) with an unreadable startDate")
      }
      return nil
    }
    remark(key.type.defects.union(key.source.defects))
    var source = Source(name: key.source.text)
    if let bytes = attributes.version {
      let version = texts.version(bytes)
      source.version = version.text
      remark(version.defects)
    }
    var device: (device: Device?, defects: TextDefects) = (nil, [])
    if let bytes = attributes.device {
      device = texts.device(bytes)
      remark(device.defects)
    }
    var draft = Draft(
      kind: key.kind, line: scanner.isSelfClosing ? nil : scanner.tokenLine(), hash: key.hash,
      sample: Sample(
        uuid: Self.noIdentity, type: SampleType(rawValue: key.type.text), start: key.start, end: key.end,
        created: key.created, source: source, device: device.device, payload: .category(CategoryValue(value: nil))))
    if attributes.duplicates > 0 { remark("attribute given twice") }
    if !key.problems.isEmpty { note(key.problems, attributes, element, &draft) }
    return draft
  }

  private mutating func note(
    _ problems: KeyReader.Problems, _ attributes: CommonAttributes, _ element: String, _ draft: inout Draft
  ) {
    if problems.contains(.noOffset) { remark("date without an offset") }
    if problems.contains(.twelveHours) { remark("date of a 12-hour clock") }
    // The format has none for prescriptions.
    if problems.contains(.noSource), element != "VisionPrescription" { remark("\(element) without a sourceName") }
    if problems.contains(.unreadableEnd), let bytes = attributes.end {
      remark("\(element) with an unreadable endDate")
      draft.metadata.append((attributeKey("endDate"), decoded(bytes)))
    }
    if problems.contains(.unreadableCreated), let bytes = attributes.created {
      remark("\(element) with an unreadable creationDate")
      draft.metadata.append((attributeKey("creationDate"), decoded(bytes)))
    }
  }

  static var noIdentity: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }

  // MARK: Values

  private mutating func readValue(_ attributes: CommonAttributes, of draft: inout Draft) {
    let type = draft.sample.type
    let unit = attributes.unit.map { texts.unit($0) }
    if let unit { remark(unit.defects) }
    if type.rawValue.utf8.starts(with: "HKCategoryType".utf8) {
      draft.sample.payload = .category(category(attributes.value, of: type))
      if let unit { addUnknown("unit", unit.text, of: "Record", to: &draft.metadata) }
      return
    }
    let isQuantity = type.rawValue.utf8.starts(with: "HKQuantityType".utf8)
    if let bytes = attributes.value, let number = DecimalReader.read(bytes) {
      if number.hasComma { remark("decimal comma") }
      draft.sample.payload = .quantity(Quantity(number.value, unit?.text ?? ""))
    } else if isQuantity || unit != nil {
      remark("quantity without a number")
      var content: [String: JSONValue] = [:]
      if let bytes = attributes.value { content["value"] = .string(decoded(bytes)) }
      if let unit { content["unit"] = .string(unit.text) }
      draft.sample.payload = .unknown(kind: "record", content: .object(content))
    } else {
      draft.sample.payload = .category(category(attributes.value, of: type))
    }
  }

  private mutating func category(_ value: Bytes?, of type: SampleType) -> CategoryValue {
    guard let value else { return CategoryValue(value: nil) }
    let text = texts.value(value)
    remark(text.defects)
    return CategoryValueNames.healthKit.value(exported: text.text, type: type)
  }
}
