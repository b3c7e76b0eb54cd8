import Foundation
import TestSupport

@testable import Destinations

/// A moto server that implements S3 and checks signatures, with the user ada and the bucket `health` in eu-central-1.
final class MotoServer: Sendable {
  private static let environment = PythonEnvironment("s3")
  static let isHere = environment.program("moto_server") != nil
  static let missing = environment.missing
  static let region = "eu-central-1"

  /// The server shared by all tests, or `nil` if moto isn't installed.
  static let shared: MotoServer? = isHere ? try? MotoServer() : nil

  private let process: ServerProcess
  let accessKey: String
  let secretKey: String
  /// The credentials of the user who inspects the bucket.
  let judge: (key: String, secret: String)
  var port: Int { process.port }

  var endpoint: String { "http://127.0.0.1:\(process.port)" }

  init() throws {
    let python = Self.environment.program("python") ?? ""
    // The first requests need no signature: they make the users and the bucket.
    let program = """
      import os
      os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "8"
      from moto.server import DomainDispatcherApplication, create_backend_app
      from werkzeug.serving import make_server
      server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
      print("listening on 127.0.0.1:%d ." % server.port, flush=True)
      server.serve_forever()
      """
    process = try ServerProcess(python, ["-c", program], until: "listening on 127.0.0.1:")
    let set = """
      import json, boto3
      args = dict(endpoint_url="http://127.0.0.1:\(process.port)", region_name="\(Self.region)",
                  aws_access_key_id="first", aws_secret_access_key="first")
      iam = boto3.client("iam", **args)
      policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
      for user in ["ada", "judge"]:
          iam.create_user(UserName=user)
          key = iam.create_access_key(UserName=user)["AccessKey"]
          iam.put_user_policy(UserName=user, PolicyName="all", PolicyDocument=json.dumps(policy))
          print(key["AccessKeyId"], key["SecretAccessKey"])
      s3 = boto3.client("s3", **args)
      s3.create_bucket(Bucket="health", CreateBucketConfiguration={"LocationConstraint": "\(Self.region)"})
      s3.list_buckets()
      """
    let said = try output(of: python, ["-c", set])
    let keys = said.text.split(whereSeparator: \.isWhitespace).map(String.init)
    guard said.status == 0, keys.count == 4 else { throw ServerProcess.Failure(description: said.text) }
    (accessKey, secretKey) = (keys[0], keys[1])
    judge = (keys[2], keys[3])
  }

  /// Returns the settings of a destination with its own prefix.
  func settings(_ prefix: String) -> [String: DestinationSettings.Value] {
    [
      "bucket": .text("health"), "region": .text(Self.region), "endpoint": .text(endpoint), "prefix": .text(prefix),
      "access-key": .text("env:KEY"), "secret-key": .text("env:SECRET"),
    ]
  }

  var secrets: [String: String] { ["KEY": accessKey, "SECRET": secretKey] }

  /// Runs a Python script in which `s3` is a boto3 client.
  func boto(_ script: String) throws -> String {
    let head = """
      import boto3
      s3 = boto3.client("s3", endpoint_url="\(endpoint)", region_name="\(Self.region)",
                        aws_access_key_id="\(judge.key)", aws_secret_access_key="\(judge.secret)")

      """
    let said = try output(of: Self.environment.program("python") ?? "", ["-c", head + script])
    guard said.status == 0 else { throw ServerProcess.Failure(description: said.text) }
    return said.text
  }
}
