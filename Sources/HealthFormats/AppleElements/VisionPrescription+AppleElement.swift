import Foundation
import HealthModel

/// Reads and writes `VisionPrescription` with its eyes and attachments. Attachments are files.
extension VisionPrescription: AppleElement {
  static var elementName: String { "VisionPrescription" }
  static var typeWithoutName: SampleType { SampleType("HKVisionPrescriptionTypeIdentifier") }
  static var startAttribute: StaticString? { "dateIssued" }
  static var hasSource: Bool { false }
  var hasPartInFile: Bool { attachments.contains { $0.content != nil } }

  /// The maximum size of an attachment, in bytes.
  private static let maximumAttachment: Int64 = 8 << 20
  /// The maximum size of all attachments of a sample, in bytes. Base64 makes them a third larger, which is the limit
  /// of a payload.
  private static let maximumAttachments: Int64 = 16 << 20

  // MARK: Reading

  static func read(_ element: RawElement, into draft: inout Draft, _ context: inout ReadingContext) {
    var prescription = VisionPrescription()
    prescription.expires = draft.attributes.takeDate("expirationDate", &context.keys)
    prescription.brand = draft.attributes.take("brand")
    draft.metadata.keep(rest: draft.attributes, of: elementName, &context)
    var room = maximumAttachments
    for child in element.children {
      switch child.name {
      case "MetadataEntry": draft.metadata.read(child, &context)
      case "RightEye" where prescription.right == nil:
        prescription.right = eye(child, in: &draft.metadata, &context)
      case "LeftEye" where prescription.left == nil:
        prescription.left = eye(child, in: &draft.metadata, &context)
      case "Attachment":
        context.noticeLine = child.line
        var attributes = child.attributes
        prescription.attachments.append(attachment(attributes.take("identifier"), room: &room, &context))
        let place = PreservedKey.place("Attachment", prescription.attachments.count)
        draft.metadata.keep(rest: attributes, of: "Attachment", prefix: "\(place).", &context)
        for inner in child.children { draft.metadata.keep(inner, of: "Attachment", at: place, &context) }
      default: draft.metadata.keep(child, of: elementName, &context)
      }
    }
    draft.sample.payload = .visionPrescription(prescription)
  }

  private static func eye(
    _ element: RawElement, in entries: inout MetadataEntries, _ context: inout ReadingContext
  ) -> [String: Quantity] {
    context.noticeLine = element.line
    var attributes = element.attributes
    var eye: [String: Quantity] = [:]
    for (name, _) in attributes.rest where !name.ends(with: "Unit") && eye[name] == nil {
      guard let value = attributes.takeNumber(name) else { continue }
      eye[name] = Quantity(value, attributes.take(name + "Unit") ?? "")
    }
    entries.keep(rest: attributes, of: element.name, prefix: "\(element.name).", &context)
    for child in element.children { entries.keep(child, of: element.name, at: element.name, &context) }
    return eye
  }

  /// Reads an attachment, and its file if exactly one file has the identifier in its name.
  ///
  /// - Parameter room: the number of bytes that the sample may still use; reduced by the size of the file.
  private static func attachment(
    _ identifier: String?, room: inout Int64, _ context: inout ReadingContext
  ) -> PrescriptionAttachment {
    var attachment = PrescriptionAttachment(identifier: identifier)
    guard let identifier, identifier.utf8.count >= 8 else { return attachment }
    let members = context.sideFiles.members(containing: identifier)
    guard let member = members.first, members.count == 1 else { return attachment }
    attachment.path = "/\(member.name)"
    do {
      let content = try context.sideFiles.content(of: member, limit: min(room, maximumAttachment))
      room -= Int64(content.count)
      attachment.content = Data(content)
    } catch {
      context.remark("\(member.name): \(SideFiles.reason(error))", .nowhere)
    }
    return attachment
  }

  // MARK: Writing

  func write(_ sample: Sample, related: [Sample], to writer: inout AppleExportWriter) -> Bool {
    var kept = KeptMetadata(sample.metadata, writer.text)
    writer.output.start(Self.elementName)
    writer.output.attribute("type", sample.type.rawValue)
    // A prescription whose date of issue is not the start has both attributes.
    let issued = kept.take(attribute: "dateIssued")
    writer.output.attribute("dateIssued", issued ?? writer.text.date(sample.start))
    writer.output.attribute(
      "expirationDate", kept.take(attribute: "expirationDate") ?? expires.map { writer.text.date($0) })
    writer.output.attribute("brand", brand)
    if sample.source != Source(name: "") || sample.device != nil { writer.source(of: sample) }
    writer.dates(of: sample, &kept, hasStart: issued != nil)
    writer.attributes(&kept)
    Self.write(right, as: "RightEye", to: &writer, &kept)
    Self.write(left, as: "LeftEye", to: &writer, &kept)
    for (index, attachment) in attachments.enumerated() {
      writer.output.start("Attachment")
      writer.output.attribute("identifier", attachment.identifier)
      writer.unknown(at: PreservedKey.place("Attachment", index + 1), &kept)
      writer.output.end()
    }
    writer.entries(&kept)
    writer.finish(&kept)
    return true
  }

  private static let eyeAttributes = [
    "sphere", "cylinder", "axis", "add", "vertex", "prismAmount", "prismAngle", "farPD", "nearPD", "baseCurve",
    "diameter",
  ]

  private static func write(
    _ eye: [String: Quantity]?, as name: String, to writer: inout AppleExportWriter, _ kept: inout KeptMetadata
  ) {
    guard let eye else { return }
    writer.output.start(name)
    let others = eye.keys.filter { !eyeAttributes.contains($0) && XMLOutput.isName($0) }.sorted()
    for attribute in eyeAttributes + others { writer.quantity(attribute, attribute + "Unit", eye[attribute]) }
    writer.unknown(at: name, &kept)
    writer.output.end()
  }
}
