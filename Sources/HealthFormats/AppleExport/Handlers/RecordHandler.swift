import HealthModel

/// The handler of `Record` elements, at the top level and in correlations.
struct RecordHandler {
  var beats = HeartBeatHandler()
  private var counts = RunLengthCounts()

  /// The number of top-level records that became samples, by type.
  var countsByType: [String: Int] { counts.total }

  func begin(isMember: Bool, _ context: inout ReadingContext) -> ElementStack.Role {
    let attributes = CommonAttributes(context.scanner)
    guard var draft = Draft(.record, attributes, called: "Record", &context) else { return .ignored }
    readValue(attributes, of: &draft, &context)
    for index in attributes.others {
      let attribute = context.scanner.attribute(index)
      let (name, value) = (context.texts.key(attribute.name).text, context.decoded(attribute.value))
      draft.metadata.keep(attribute: name, value, of: "Record", &context)
    }
    if isMember { context.open.member = draft } else { context.open.outer = draft }
    return isMember ? .member : .record
  }

  mutating func finish(_ context: inout ReadingContext) throws {
    guard var draft = context.open.outer.take() else { return }
    complete(&draft, &context)
    guard try context.takes(draft) else { return }
    counts.add(draft.sample.type.rawValue)
    try context.delivery.add(draft)
  }

  mutating func finishMember(_ context: inout ReadingContext) throws -> Draft? {
    guard var draft = context.open.member.take() else { return nil }
    complete(&draft, &context)
    guard try context.takes(draft) else { return nil }
    context.report.nestedRecords[draft.sample.type.rawValue, default: 0] += 1
    return draft
  }

  private mutating func complete(_ draft: inout Draft, _ context: inout ReadingContext) {
    beats.finish(in: &draft, &context)
    draft.complete(&context)
  }

  // MARK: Values

  private func readValue(_ attributes: CommonAttributes, of draft: inout Draft, _ context: inout ReadingContext) {
    let type = draft.sample.type
    let unit = attributes.unit.map { context.texts.unit($0) }
    if let unit { context.remark(unit.defects) }
    if type.rawValue.begins(with: "HKCategoryType") {
      draft.sample.payload = .category(category(attributes.value, of: type, &context))
      if let unit { draft.metadata.keep(attribute: "unit", unit.text, of: "Record", &context) }
      return
    }
    let isQuantity = type.rawValue.begins(with: "HKQuantityType")
    if let bytes = attributes.value, let number = DecimalReader.read(bytes) {
      if number.hasComma { context.remark("decimal comma") }
      draft.sample.payload = .quantity(Quantity(number.value, unit?.text ?? ""))
    } else if isQuantity || unit != nil {
      context.remark("quantity without a number")
      var content: [String: JSONValue] = [:]
      if let bytes = attributes.value { content["value"] = .string(context.decoded(bytes)) }
      if let unit { content["unit"] = .string(unit.text) }
      draft.sample.payload = .unknown(kind: "record", content: .object(content))
    } else {
      draft.sample.payload = .category(category(attributes.value, of: type, &context))
    }
  }

  private func category(_ value: Bytes?, of type: SampleType, _ context: inout ReadingContext) -> CategoryValue {
    guard let value else { return CategoryValue(value: nil) }
    let text = context.texts.value(value)
    context.remark(text.defects)
    return CategoryValueNames.healthKit.value(exported: text.text, type: type)
  }
}

/// A counter of texts that is fast if the same text comes in runs.
private struct RunLengthCounts {
  private var counts: [String: Int] = [:]
  private var last = ""
  private var run = 0

  mutating func add(_ text: String) {
    if text != last {
      flush()
      last = text
    }
    run += 1
  }

  private mutating func flush() {
    if run > 0 { counts[last, default: 0] += run }
    run = 0
  }

  var total: [String: Int] {
    var copy = self
    copy.flush()
    return copy.counts
  }
}
