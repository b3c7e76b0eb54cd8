/// The hardware that measured a sample (`HKDevice`).
public struct Device: Hashable, Sendable, Codable {
  /// The name that the manufacturer's app shows: `Apple Watch`.
  public var name: String?
  /// The manufacturer: `Apple Inc.`
  public var manufacturer: String?
  /// The kind of device: `Watch`.
  public var model: String?
  /// The manufacturer's designation of the hardware revision: `Watch6,2`.
  public var hardwareVersion: String?
  /// The firmware version of the sensor itself, as opposed to ``softwareVersion``.
  public var firmwareVersion: String?
  /// The version of the device's operating system or app: `10.5`.
  public var softwareVersion: String?
  /// The phone's identifier for the device, such as a Bluetooth peripheral's UUID. Another phone uses a different
  /// identifier.
  public var localIdentifier: String?
  /// The device identifier of a medical device's UDI (21 CFR 830.3), without the production identifier.
  public var udiDeviceIdentifier: String?
  /// A description that cannot be split into the fields above, unchanged except for its memory address, which is
  /// removed.
  public var text: String?

  /// Creates a device. A device without any fields is still a device, different from `nil`.
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
