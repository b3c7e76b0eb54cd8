import Foundation

extension DayFiles {
  /// Settings of every kind that keeps day files.
  static let fields = [
    SettingField("prefix", .text, "A path before all names, such as health/ada.", default: ""),
    SettingField(
      "format", .choice(DayFileFormat.allCases.map(\.rawValue)),
      "What the files are written in: ndjson and json keep everything, csv has no sleep stages, workouts or deletions.",
      default: DayFileFormat.ndjson.rawValue),
    SettingField(
      "compat", .boolean,
      "Write the numbers that HealthPush writes, of which those of six types are wrong: kilometres that are called metres.",
      default: "false"),
    SettingField(
      "whole-samples", .boolean,
      "Keep all that is known of a sample in one more member of its record, so that it can be read back.",
      default: "true"),
  ]
}

extension DayFiles.Options {
  /// - Throws: ``SettingsError`` of a prefix that HealthPush does not take.
  init(_ settings: DestinationSettings) throws(SettingsError) {
    self.init()
    let prefix = try settings.text("prefix").trimmingCharacters(in: CharacterSet(charactersIn: "/ "))
    let parts = prefix.components(separatedBy: "/")
    guard prefix.utf8.count <= 256,
      prefix.isEmpty || !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }),
      prefix.utf8.allSatisfy({ byte in
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-_./".utf8.contains(byte)
      })
    else {
      throw SettingsError(
        "prefix", .invalid("must be of letters, digits, -, _, . and / between them, and at most 256 of them"))
    }
    self.prefix = prefix.isEmpty ? "" : prefix + "/"
    format = DayFileFormat(rawValue: try settings.text("format")) ?? .ndjson
    isCompatible = settings.boolean("compat")
    hasWholeSamples = settings.boolean("whole-samples")
  }
}
