import Foundation

/// A prescription for glasses or contact lenses (`HKVisionPrescription`). The sample starts when it was issued.
public struct VisionPrescription: Hashable, Sendable {
  /// `nil` where it never does, or the source did not say.
  public var expires: Timestamp?
  /// Of contact lenses; `nil` for glasses.
  public var brand: String?
  /// By Apple's attribute name: `sphere`, `cylinder`, `axis`, `add`, `vertex`, `prismAmount`, `prismAngle`, `farPD`,
  /// `nearPD`, `baseCurve`, `diameter`.
  public var right: [String: Quantity]?
  /// As ``right``; `nil` where nothing is prescribed for that eye.
  public var left: [String: Quantity]?
  /// In the order of the source; empty for most.
  public var attachments: [PrescriptionAttachment]

  /// Everything is optional, as in HealthKit's own export.
  public init(
    expires: Timestamp? = nil, brand: String? = nil, right: [String: Quantity]? = nil,
    left: [String: Quantity]? = nil, attachments: [PrescriptionAttachment] = []
  ) {
    self.expires = expires
    self.brand = brand
    self.right = right
    self.left = left
    self.attachments = attachments
  }
}

/// A scan or photograph of a prescription (`HKAttachment`).
public struct PrescriptionAttachment: Hashable, Sendable {
  /// HealthKit's UUID of the attachment, as text.
  public var identifier: String?
  /// Where it was found in the export.
  public var path: String?
  /// `nil` where the file was not to be had.
  public var content: Data?

  /// - Parameter content: the bytes of the file, a PDF or an image; in JSON they are Base64.
  public init(identifier: String? = nil, path: String? = nil, content: Data? = nil) {
    self.identifier = identifier
    self.path = path
    self.content = content
  }
}

extension VisionPrescription: SamplePayload {
  package static let kind = "visionPrescription"
  package static let isUniqueAtItsTime = true
  package static let isLarge = true
  package var payload: Payload { .visionPrescription(self) }

  public init(from decoder: any Decoder) throws {
    let object = try decoder.strictContainer(["expires", "brand", "right", "left", "attachments"])
    expires = try object.decodeIfPresent(Timestamp.self, forKey: "expires")
    brand = try object.decodeIfPresent(String.self, forKey: "brand")
    right = try object.decodeIfPresent([String: Quantity].self, forKey: "right")
    left = try object.decodeIfPresent([String: Quantity].self, forKey: "left")
    attachments = try object.decodeIfPresent([PrescriptionAttachment].self, forKey: "attachments") ?? []
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: OpenKey.self)
    try object.encodeIfPresent(expires, forKey: "expires")
    try object.encodeIfPresent(brand, forKey: "brand")
    try object.encodeIfPresent(right, forKey: "right")
    try object.encodeIfPresent(left, forKey: "left")
    if !attachments.isEmpty { try object.encode(attachments, forKey: "attachments") }
  }
}

extension PrescriptionAttachment: Codable {
  public init(from decoder: any Decoder) throws {
    let object = try decoder.strictContainer(["identifier", "path", "content"])
    identifier = try object.decodeIfPresent(String.self, forKey: "identifier")
    path = try object.decodeIfPresent(String.self, forKey: "path")
    content = try object.decodeIfPresent(Data.self, forKey: "content")
  }
}
