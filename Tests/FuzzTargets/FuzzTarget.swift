import Foundation

/// The parsers of untrusted bytes by name, which is also the name of a directory in `Tests/Fuzz/Corpus`.
///
/// A target takes any bytes and ends the process if an assertion fails. libFuzzer (`scripts/fuzz`) and the tests
/// (`FuzzTests`) then report the input.
public enum FuzzTarget {
  /// The targets, by name.
  public static let all: [String: @Sendable ([UInt8]) -> Void] = [
    "age": ageFile, "backup": backupFile,
    "apple-xml": appleXML, "apple-xml-expat": appleXMLAgainstExpat, "beats": beats, "change-columns": changeColumns,
    "change-feed": changeFeed,
    "change-token": changeToken, "client": client, "client-hello": clientHello, "credentials": credentials,
    "curve-points": curvePoints,
    "day-file-merge": dayFileMerge, "day-files": dayFiles, "fhir-outcome": fhirOutcome, "header-texts": headerTexts,
    "home-assistant": homeAssistantMessages, "server-xml": serverXML, "toml-outline": tomlOutline,
    "toml-removal": tomlRemoval,
    "export-fields": exportFields,
    "digest": digest, "ecg-csv": electrocardiogramFile, "fhir": fhir, "fitbit": fitbit, "fhir-map": fhirMap, "gpx": gpx,
    "gzip": gzipFile, "hae-json": haeJSON, "hat-csv": hatCSV,
    "hat-json": hatJSON,
    "hpeer-csv": hpeerCSV,
    "hpeer-json": hpeerJSON, "http-query": httpQuery, "inbox": inbox,
    "pair-messages": pairMessages, "pairing-payload": pairingPayload, "phone": phone, "plain-text": plainText,
    "qr-picture": qrPicture,
    "time-zone": timeZone, "txt-record": txtRecord, "zip": zipFile, "zip-salvage": zipSalvage,
    "zstandard": zstandardFile,
  ]

  /// Ends the process if `holds` is false.
  static func require(_ holds: Bool, _ promise: @autoclosure () -> String) {
    if !holds { fatalError("broken promise: \(promise())") }
  }

  /// Returns JSON that is the same for equal values.
  static func json(_ value: some Encodable) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return try encoder.encode(value)
    } catch {
      fatalError("broken promise: what was read can be written: \(error)")
    }
  }

  /// Encodes `value`, decodes the result and encodes it again. The two texts must be equal. Texts are compared,
  /// because NaN doesn't equal itself.
  static func requireRoundTrip<Value: Codable>(_ value: Value) {
    let first = json(value)
    do {
      let again = json(try JSONDecoder().decode(Value.self, from: first))
      require(again == first, "JSON round trip of \(Value.self):\n\(text(first))\n\(text(again))")
    } catch {
      fatalError("broken promise: what was written can be read: \(text(first)): \(error)")
    }
  }

  static func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
