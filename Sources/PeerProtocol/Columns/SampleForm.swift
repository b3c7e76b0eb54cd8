/// The values of `form` in `changes.proto` beside the powers of ten.
enum SampleForm {
  static let binary: UInt8 = 16
  static let none: UInt8 = 17
  static let json: UInt8 = 18
  /// The flag for a sample with a creation date.
  static let created: UInt8 = 0x20
}
