/// The setting `person`, which all kinds that speak to Home Assistant have.
enum HomeAssistantPerson {
  /// Throws ``SettingsError`` where it cannot stand in an identifier.
  static func read(_ settings: DestinationSettings) throws(SettingsError) -> String {
    let person = try settings.text("person")
    guard isIdentifier(person) else {
      throw SettingsError(
        "person", .invalid("must be of lower-case letters a to z, digits and single _ between them, such as ada"))
    }
    return person
  }

  /// As Home Assistant's identifiers are: no `_` at either end, and no two together.
  static func isIdentifier(_ text: String) -> Bool {
    let parts = text.split(separator: "_", omittingEmptySubsequences: false)
    return text.utf8.count <= 64
      && parts.allSatisfy { part in
        !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
      }
  }
}
