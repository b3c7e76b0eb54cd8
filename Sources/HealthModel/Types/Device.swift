/// The hardware that measured a sample (`HKDevice`).
public struct Device: Hashable, Sendable, Codable {
  /// As the manufacturer's app has it for people: `Apple Watch`.
  public var name: String?
  /// `Apple Inc.`
  public var manufacturer: String?
  /// The kind of device: `Watch`.
  public var model: String?
  /// The manufacturer's own word for the revision: `Watch6,2`.
  public var hardwareVersion: String?
  /// Of the sensor itself, apart from the ``softwareVersion`` of what runs on it.
  public var firmwareVersion: String?
  /// Of the operating system or the app on the device: `10.5`.
  public var softwareVersion: String?
  /// What the phone calls it, such as a Bluetooth peripheral's UUID: another phone has another for it.
  public var localIdentifier: String?
  /// The device identifier of a medical device's UDI (21 CFR 830.3), without the production identifier.
  public var udiDeviceIdentifier: String?
  /// A description that does not divide into the fields above, kept as it came but for its memory address.
  public var text: String?

  /// A device of which nothing need be known: one without any field is a device all the same, and not `nil`.
  public init(
    name: String? = nil, manufacturer: String? = nil, model: String? = nil, hardwareVersion: String? = nil,
    firmwareVersion: String? = nil, softwareVersion: String? = nil, localIdentifier: String? = nil,
    udiDeviceIdentifier: String? = nil, text: String? = nil
  ) {
    self.name = name
    self.manufacturer = manufacturer
    self.model = model
    self.hardwareVersion = hardwareVersion
    self.firmwareVersion = firmwareVersion
    self.softwareVersion = softwareVersion
    self.localIdentifier = localIdentifier
    self.udiDeviceIdentifier = udiDeviceIdentifier
    self.text = text
  }
}
