import Foundation
import HealthModel

/// `VisionPrescription`. What its payload has no place for becomes metadata.
enum VisionPrescriptionReader {
  /// In bytes.
  private static let maximumAttachment: Int64 = 8 << 20
  /// Of one sample, in bytes; in Base64 four thirds of them, which is what a payload may have.
  private static let maximumAttachments: Int64 = 16 << 20

  static func read(_ element: RawElement, into draft: inout Draft, _ context: inout ReadingContext) {
    var prescription = VisionPrescription()
    prescription.expires = draft.attributes.takeDate("expirationDate", &context.keys)
    prescription.brand = draft.attributes.take("brand")
    draft.metadata.keep(rest: draft.attributes, of: "VisionPrescription", &context)
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
        let place = KeptName.place("Attachment", prescription.attachments.count)
        draft.metadata.keep(rest: attributes, of: "Attachment", prefix: "\(place).", &context)
        for inner in child.children { draft.metadata.keep(inner, of: "Attachment", at: place, &context) }
      default: draft.metadata.keep(child, of: "VisionPrescription", &context)
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

  /// An attachment with its file, where one bears its identifier as a name.
  ///
  /// - Parameter room: in bytes, less what the file takes.
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
}
