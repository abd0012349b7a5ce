//! Calls of AWS services. A call's future is boxed here, so that the SDK's code for it is compiled once in this crate, and
//! not in every function that awaits it.

use futures::future::BoxFuture;

/// A call that is ready to be sent.
pub(crate) trait Dispatch {
    /// The service's answer, or why there is none.
    type Answer;

    /// Sends the call. Retries are the client's own.
    fn dispatch(self) -> BoxFuture<'static, Self::Answer>;
}

macro_rules! calls {
    ($sdk:ident: $($operation:ident::{$builder:ident, $output:ident, $error:ident};)+) => {$(
        impl Dispatch for $sdk::operation::$operation::builders::$builder {
            type Answer = Result<
                $sdk::operation::$operation::$output,
                $sdk::error::SdkError<$sdk::operation::$operation::$error>,
            >;

            fn dispatch(self) -> BoxFuture<'static, Self::Answer> {
                Box::pin(self.send())
            }
        }
    )+};
}

calls! {
    aws_sdk_dynamodb:
    batch_get_item::{BatchGetItemFluentBuilder, BatchGetItemOutput, BatchGetItemError};
    batch_write_item::{BatchWriteItemFluentBuilder, BatchWriteItemOutput, BatchWriteItemError};
    delete_item::{DeleteItemFluentBuilder, DeleteItemOutput, DeleteItemError};
    get_item::{GetItemFluentBuilder, GetItemOutput, GetItemError};
    put_item::{PutItemFluentBuilder, PutItemOutput, PutItemError};
    query::{QueryFluentBuilder, QueryOutput, QueryError};
    transact_write_items::{TransactWriteItemsFluentBuilder, TransactWriteItemsOutput, TransactWriteItemsError};
    update_item::{UpdateItemFluentBuilder, UpdateItemOutput, UpdateItemError};
}

calls! {
    aws_sdk_kms:
    generate_mac::{GenerateMacFluentBuilder, GenerateMacOutput, GenerateMacError};
    sign::{SignFluentBuilder, SignOutput, SignError};
    verify_mac::{VerifyMacFluentBuilder, VerifyMacOutput, VerifyMacError};
}

calls! {
    aws_sdk_s3:
    complete_multipart_upload::{
        CompleteMultipartUploadFluentBuilder, CompleteMultipartUploadOutput, CompleteMultipartUploadError
    };
    create_multipart_upload::{
        CreateMultipartUploadFluentBuilder, CreateMultipartUploadOutput, CreateMultipartUploadError
    };
    copy_object::{CopyObjectFluentBuilder, CopyObjectOutput, CopyObjectError};
    delete_object::{DeleteObjectFluentBuilder, DeleteObjectOutput, DeleteObjectError};
    get_object::{GetObjectFluentBuilder, GetObjectOutput, GetObjectError};
    list_objects_v2::{ListObjectsV2FluentBuilder, ListObjectsV2Output, ListObjectsV2Error};
    list_parts::{ListPartsFluentBuilder, ListPartsOutput, ListPartsError};
    put_object::{PutObjectFluentBuilder, PutObjectOutput, PutObjectError};
    upload_part_copy::{UploadPartCopyFluentBuilder, UploadPartCopyOutput, UploadPartCopyError};
}

calls! {
    aws_sdk_secretsmanager:
    get_secret_value::{GetSecretValueFluentBuilder, GetSecretValueOutput, GetSecretValueError};
}

calls! {
    aws_sdk_ses:
    send_email::{SendEmailFluentBuilder, SendEmailOutput, SendEmailError};
    send_raw_email::{SendRawEmailFluentBuilder, SendRawEmailOutput, SendRawEmailError};
}
