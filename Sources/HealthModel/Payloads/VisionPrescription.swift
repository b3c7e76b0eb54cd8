import Foundation

/// A prescription for glasses or contact lenses (`HKVisionPrescription`). The sample starts at the date of issue.
public struct VisionPrescription: Hashable, Sendable {
  /// The expiration date, or `nil` if there is none or the source does not give it.
  public var expires: Timestamp?
  /// The brand of contact lenses, or `nil` for glasses.
  public var brand: String?
  /// The values for the right eye by Apple's attribute name: `sphere`, `cylinder`, `axis`, `add`, `vertex`,
  /// `prismAmount`, `prismAngle`, `farPD`, `nearPD`, `baseCurve`, `diameter`.
  public var right: [String: Quantity]?
  /// The values for the left eye like ``right``, or `nil` if nothing is prescribed for it.
  public var left: [String: Quantity]?
  /// The attachments in the order of the source. Most prescriptions have none.
  public var attachments: [PrescriptionAttachment]

  /// Creates a prescription. Everything is optional, as in HealthKit's own export.
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
  /// The path of the file in the export.
  public var path: String?
  /// The content of the file, or `nil` if the file was not available.
  public var content: Data?

  /// Creates an attachment.
  ///
  /// - Parameter content: the bytes of the file, a PDF or an image, which are Base64 in JSON.
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
